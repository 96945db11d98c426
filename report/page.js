(function () {
  'use strict';
  var tip = document.getElementById('tip');
  var marked = [];

  function hide() {
    tip.hidden = true;
    marked.forEach(function (e) { e.classList.remove('at'); });
    marked = [];
  }

  function words(hit) {
    var title = hit.querySelector('title');
    return title ? title.textContent : '';
  }

  // all points of a drawing at the place in x that is nearest to the given one
  function nearest(svg, x) {
    var best = Infinity, found = [];
    svg.querySelectorAll('.hits > *').forEach(function (hit) {
      var r = hit.getBoundingClientRect(), d = Math.abs(r.left + r.width / 2 - x);
      if (d < best - 0.75) { best = d; found = []; }
      if (d <= best + 0.75) { found.push(hit); }
    });
    return found;
  }

  function show(found, x, y) {
    hide();
    if (!found.length) { return; }
    tip.textContent = found.map(words).join('\n');
    marked = found;
    marked.forEach(function (e) { e.classList.add('at'); });
    tip.hidden = false;
    var w = tip.offsetWidth, h = tip.offsetHeight;
    tip.style.left = scrollX + Math.max(8, Math.min(x + 14, document.documentElement.clientWidth - w - 8)) + 'px';
    tip.style.top = scrollY + (y + h + 24 > innerHeight ? Math.max(8, y - h - 14) : y + 16) + 'px';
  }

  function places(svg) {
    var xs = [];
    svg.querySelectorAll('.hits > *').forEach(function (hit) {
      var r = hit.getBoundingClientRect();
      xs.push(Math.round(r.left + r.width / 2 - svg.getBoundingClientRect().left));
    });
    return xs.sort(function (a, b) { return a - b; }).filter(function (x, i) { return i === 0 || x - xs[i - 1] > 1; });
  }

  document.querySelectorAll('.drawing').forEach(function (drawing) {
    function seen() {
      return Array.prototype.find.call(drawing.querySelectorAll('svg.chart'), function (s) { return s.getBoundingClientRect().width > 0; });
    }
    // one tip for the whole column replaces the single ones of the browser
    drawing.addEventListener('pointermove', function (e) {
      var svg = seen();
      if (svg) { show(nearest(svg, e.clientX), e.clientX, e.clientY); }
    });
    drawing.addEventListener('pointerleave', hide);
    drawing.addEventListener('blur', hide);
    drawing.tabIndex = 0;
    drawing.setAttribute('role', 'group');
    drawing.setAttribute('aria-label', 'Chart values: use the left and right arrow keys');
    var at = -1;
    drawing.addEventListener('keydown', function (e) {
      if (e.key === 'Escape') { hide(); return; }
      if (e.key !== 'ArrowLeft' && e.key !== 'ArrowRight') { return; }
      var svg = seen(), xs = svg ? places(svg) : [];
      if (!xs.length) { return; }
      e.preventDefault();
      at = Math.max(0, Math.min(xs.length - 1, at + (e.key === 'ArrowRight' ? 1 : -1)));
      var box = svg.getBoundingClientRect();
      show(nearest(svg, box.left + xs[at]), box.left + xs[at], box.top + box.height / 3);
    });
  });

  document.querySelectorAll('.copyable').forEach(function (box) {
    var pre = box.querySelector('pre'), button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.setAttribute('aria-label', 'Copy the ' + (pre.id === 'command' ? 'command' : 'plan'));
    button.addEventListener('click', function () {
      getSelection().selectAllChildren(pre);
      var done = function (ok) { button.textContent = ok ? 'Copied' : 'Selected'; setTimeout(function () { button.textContent = 'Copy'; }, 1500); };
      if (navigator.clipboard && isSecureContext) {
        navigator.clipboard.writeText(pre.textContent).then(function () { done(true); }, function () { done(false); });
      } else {
        done(document.execCommand('copy'));
      }
    });
    box.appendChild(button);
  });

  // a printed page shows what is folded, and so does a link into it
  var folded = [];
  addEventListener('beforeprint', function () {
    folded = Array.prototype.filter.call(document.querySelectorAll('details'), function (d) { return !d.open; });
    folded.forEach(function (d) { d.open = true; });
  });
  addEventListener('afterprint', function () { folded.forEach(function (d) { d.open = false; }); });
})();
