package plans

import "slices"

// The shapes of schema version 1: the one place that says which keys a plan has, how they are read, what they
// default to and what they mean.

var (
	textShape     = &shape{noun: "text", scalar: textScalar}
	filledText    = &shape{noun: "text that is not empty", scalar: textScalar, rule: "min=1"}
	nameShape     = &shape{noun: "a name", scalar: textScalar, rule: "min=1,max=100", open: true}
	targetName    = &shape{noun: "a name", scalar: textScalar, rule: "min=1,max=100", open: true, of: "targets"}
	requestName   = &shape{noun: "a name", scalar: textScalar, rule: "min=1,max=100", open: true, of: "requests"}
	pathShape     = &shape{noun: "the path of a file", scalar: textScalar, rule: "min=1"}
	folderShape   = &shape{noun: "the path of a folder", scalar: textScalar, rule: "min=1"}
	templateShape = &shape{noun: "text", scalar: templateScalar}
	booleanShape  = &shape{noun: "true or false", scalar: booleanScalar}
	durationShape = &shape{noun: "a duration like 30s", scalar: durationScalar, rule: "gt=0s,lte=720h"}
	pauseShape    = &shape{noun: "a duration like 30s", scalar: durationScalar, rule: "gte=0s,lte=720h"}
	rateShape     = &shape{noun: "a number per unit like 250/s", scalar: rateScalar, rule: "gt=0,lte=10000000"}
	inFlightShape = &shape{noun: "a whole number", scalar: integerScalar, rule: "gte=1,lte=100000"}
	seedShape     = &shape{noun: "a whole number", scalar: integerScalar, rule: "gte=0,lte=9007199254740991"}
	commandShape  = &shape{noun: "a command like ./server --port 80, or a list of its words", scalar: commandScalar, list: textShape, some: true}
	connectShape  = &shape{noun: "an address like 10.0.0.7:8080, or a list of them", scalar: textScalar, rule: "min=1", some: true, open: true,
		list: &shape{noun: "an address like 10.0.0.7:8080", scalar: textScalar, rule: "min=1", open: true}}
	startShape = &shape{noun: "a command like ./server --listen ${address}, or a list of its words", scalar: startScalar,
		list: &shape{noun: "text", scalar: wordScalar}, some: true}
	slosShape = &shape{noun: "a list of assertions like p99 < 150ms", some: true,
		list: &shape{noun: "an assertion like p99 < 150ms", scalar: textScalar, open: true, names: freeNames, some: true,
			like: []string{"p99 < 150ms", "error_rate < 0.1%", "throughput >= 99%", "max < 1s", "service p99 < 100ms", "cpu(shop) < 80%",
				"rss(shop) < 500MiB", "time[size=1000] p50 < 20ms", "time p50 <= baseline + 10%", "growth <= linear"},
			each: &shape{noun: "an assertion like p99 < 150ms", scalar: textScalar, open: true}}}
)

var root = &shape{noun: "a plan", keys: []key{
	{name: "version", required: true, example: "1", doc: "Version of the plan schema.",
		shape: &shape{noun: "1", scalar: integerScalar, rule: "oneof=1"}},
	{name: "name", required: true, shape: nameShape, example: "predictor",
		doc: "Name of the plan, in results and reports. Lower-case letters, digits, `.`, `-` and `_`."},
	{name: "description", shape: textShape, example: "May the service go live?", doc: "What the plan is to find out, for the report."},
	{name: "include", example: "[common.yaml, targets/staging.yaml]", aka: []string{"includes", "import", "imports", "extends"},
		doc:   "Plan files, or parts of plans, that this one builds on. Its own entries of `vars`, `secrets`, `targets`, `requests`, `flows` and `profiles` come beside theirs and replace those of the same name; of the other keys its own replace theirs. Of two included files the later wins.",
		shape: &shape{noun: "the path of a file, or a list of them", scalar: textScalar, rule: "min=1", some: true, open: true, list: pathShape}},
	{name: "vars", example: "{users: 500}", doc: "Texts that other values use as `${name}`. A value may use the environment and the entries above it.",
		aka:   []string{"variables", "env", "params"},
		shape: &shape{noun: "a map of names to text", each: textShape, names: varNames}},
	{name: "secrets", example: "{token: \"${env.SHOP_TOKEN}\"}", aka: []string{"secret", "credentials"},
		doc:   "Texts that other values use as `${secret.name}` and that no output shows: terminal, result, report, logs of targets, messages and the effective plan have `[secret name]` in their place. Each comes from the environment or a file, with 8 characters or more.",
		shape: &shape{noun: "a map of names to text", each: textShape, names: varNames, some: true}},
	{name: "profiles", shape: profilesShape, example: "{ci: {stages.hold.load.for: 10s}}", aka: []string{"profile", "environments", "overrides"},
		doc: "Named changes of the plan. Each gives places of it other values; `--profile NAME` applies one. See [Profiles](#profiles-and-settings)."},
	{name: "targets", shape: targetsShape, example: "{shop: {url: \"http://127.0.0.1:8080\"}}",
		doc: "The systems under test, by name.", aka: []string{"target", "hosts", "services"}},
	{name: "requests", shape: requestsShape, example: "{home: {path: /}}",
		doc: "The requests that stages send, by name.", aka: []string{"request", "scenarios", "endpoints"}},
	{name: "flows", shape: flowsShape, example: "{buy: {steps: [{request: home}, {request: search, think: 1s}]}}", aka: []string{"flow", "journeys", "sequences"},
		doc: "What users do, by name: requests one after another. See [Flows](#flows)."},
	{name: "stages", required: true, shape: stagesShape, example: "[{name: hold, load: {rate: 50/s, for: 1m}}]",
		doc: "What is done, in this order.", aka: []string{"phases", "steps", "scenario"}},
	{name: "baseline", example: "{tolerate: [machine]}", aka: []string{"baselines"}, doc: "How strict assertions relative to stored runs are. It does not change the plan's hash. See [Baselines](slo.md#baselines).",
		shape: &shape{noun: "a map with tolerate", keys: []key{
			{name: "tolerate", required: true, example: "[plan, machine]", aka: []string{"allow", "ignore", "accept"}, doc: "What stored runs may differ in and still be compared with: `plan`, they may be of another one, or of this one before it changed; `machine`, they may be from another kind of machine.",
				shape: &shape{noun: "a list of plan and machine", some: true, list: &shape{noun: "plan or machine", scalar: textScalar, rule: "oneof=plan machine"}}},
		}}},
	{name: "slo", shape: slosShape, example: "[p99 < 150ms, error_rate < 0.1%]",
		doc: "Assertions that every load stage has to meet. See [slo.md](slo.md).", aka: []string{"assert", "asserts", "assertions", "thresholds", "slos", "checks"}},
}}

var (
	changesShape  = &shape{noun: "a map of places to values, such as {stages.hold.load.for: 10s}", names: freeNames, some: true, each: &shape{noun: "any value", scalar: laterValue}}
	profilesShape = &shape{noun: "a map of names to profiles", some: true, each: changesShape}
)

var targetsShape = &shape{noun: "a map of names to targets", some: true, each: &shape{noun: "a target, such as {url: http://127.0.0.1:8080}", keys: []key{
	{name: "url", required: true, example: "http://127.0.0.1:8080", aka: []string{"urls", "address", "host", "base_url"},
		doc: "Base address: `http` or `https`, host, optional port and path prefix. Load is spread evenly over several.",
		shape: &shape{noun: "an address like http://127.0.0.1:8080, or a list of them", scalar: textScalar, rule: "min=1", some: true, open: true,
			list: &shape{noun: "an address like http://127.0.0.1:8080", scalar: textScalar, rule: "min=1", open: true}}},
	{name: "unix", shape: pathShape, told: "TCP to the URL", example: "run/shop.sock", aka: []string{"socket", "unix_socket", "uds"},
		doc: "Unix socket that connections go to. The URL still says scheme, `host` header, path prefix and what a certificate must be for. `${address}` is its path then. Only with one URL."},
	{name: "connect_to", shape: connectShape, told: "host and port of the URL", example: "10.0.0.7:8443",
		aka: []string{"connect", "dial", "resolve"},
		doc: "Host and port that connections go to, an IPv6 address in brackets, or a list of them, over which load is spread evenly. All else, the `host` header, the name that TLS asks for and what the certificate must be for, stays that of the URL. `${address}` is this one then. Only with one URL."},
	{name: "dns", told: "names are looked up once, before each stage", example: "{refresh: 30s}", doc: "How host names are looked up. Load goes to all addresses of a name.", aka: []string{"resolver", "lookup"},
		shape: &shape{noun: "a map with refresh", some: true, keys: []key{
			{name: "refresh", required: true, shape: &shape{noun: "a duration like 30s", scalar: durationScalar, rule: "gte=100ms,lte=720h"}, example: "30s", aka: []string{"ttl", "interval", "every"},
				doc: "Names are looked up again so often during a stage, from 100ms. A host whose address is gone goes on at another one of the name, with new connections; requests under way finish, idle connections are closed. There are as many hosts as at the start, and each keeps its share of the arrivals; where the name has more addresses than that, new connections of each go to all of them in turn. A failed or empty answer changes nothing."},
		}}},
	{name: "tls", example: "{ca: certs/ca.pem}", doc: "How an `https` target is verified, and with what certificate perfplan comes to it.", aka: []string{"ssl"},
		shape: &shape{noun: "a map with ca, cert, key, server_name, verify or resume", keys: []key{
			{name: "ca", shape: pathShape, told: "the system's certificates", example: "certs/ca.pem", doc: "PEM file of the certificates to trust."},
			{name: "cert", shape: pathShape, told: "no client certificate", example: "certs/client.pem", aka: []string{"client_cert", "certificate"},
				doc: "PEM file of the certificate that perfplan shows to a server that asks for one, followed by its issuers if need be. With `key`."},
			{name: "key", shape: pathShape, told: "no client certificate", example: "certs/client.key", aka: []string{"client_key", "private_key"},
				doc: "PEM file of the private key of `cert`, not encrypted."},
			{name: "server_name", shape: filledText, told: "the URL's host", example: "shop.example", doc: "Name that the certificate must be for."},
			{name: "verify", shape: booleanShape, def: "true", example: "false", doc: "`false` accepts any certificate.", aka: []string{"insecure", "skip_verify"}},
			{name: "resume", shape: booleanShape, def: "true", example: "false", aka: []string{"resumption", "session_resumption", "session_tickets", "session_cache"},
				doc: "Connections of a stage resume the TLS session of an earlier one to the same host, where the server lets them. `false` makes a whole handshake for each."},
		}}},
	{name: "dir", shape: folderShape, told: "the plan's folder", example: "..", doc: "Folder in which `build` and `start` run.", aka: []string{"cwd", "workdir"}},
	{name: "build", shape: commandShape, example: "go build -o bin/shop ./cmd/shop", doc: "Command that is run once before the first stage."},
	{name: "start", shape: startShape, example: "bin/shop --listen ${address}", aka: []string{"run", "command", "cmd"},
		told: "the target is already running",
		doc:  "Command that runs the target until the last stage ended. With `${address}`, the host:port of a URL or of `connect_to` or the path of the socket, one process is started for each."},
	{name: "ready", def: "{}", example: "{path: /healthz, within: 20s}", doc: "How to tell that the target takes requests.", aka: []string{"health", "healthcheck"},
		shape: &shape{noun: "a map with path or within", keys: []key{
			{name: "path", shape: filledText, told: "a connection is enough", example: "/healthz", doc: "A GET of it must answer 2xx."},
			{name: "within", shape: durationShape, def: "20s", example: "1m", doc: "Longest time to wait.", aka: []string{"timeout"}},
		}}},
	{name: "stop", shape: pauseShape, told: "`5s`", example: "10s", doc: "Time between SIGTERM and SIGKILL. `0s` kills at once. Only with `start`."},
	{name: "observe", told: "`{process: true}` with `start`", example: "{process: false}", doc: "What is observed while stages run. Only with `start`.",
		shape: &shape{noun: "a map with process", keys: []key{
			{name: "process", shape: booleanShape, def: "true", example: "false", doc: "Sample CPU, memory and faults of the started process and its children."},
		}}},
}}}

var (
	patternShape = &shape{noun: "a regular expression", scalar: textScalar, rule: "min=1"}
	numberShape  = &shape{noun: "a number", scalar: textScalar, rule: "min=1"}
)

var requestsShape = &shape{noun: "a map of names to requests", some: true, each: &shape{noun: "a request, such as {path: /}", keys: []key{
	{name: "target", shape: targetName, told: "the only target", example: "shop", doc: "Name of the target that it goes to."},
	{name: "method", shape: filledText, def: "GET", example: "POST", doc: "HTTP method."},
	{name: "path", required: true, shape: &shape{noun: "a path like /items?limit=5", scalar: templateScalar}, example: "/items?limit=5", aka: []string{"url", "uri"},
		doc: "Path and query. What is legal in a request line is sent byte for byte, blanks and other characters are percent-encoded once. A fragment is not sent."},
	{name: "query", example: "{q: a b, tag: [x, y]}", aka: []string{"params", "parameters"},
		doc: "Parameters to append to the path, encoded, in this order. A list repeats its key.",
		shape: &shape{noun: "a map of parameters to text", names: freeNames,
			each: &shape{noun: "text, or a list of texts", scalar: templateScalar, list: templateShape}}},
	{name: "headers", example: "{content-type: application/json}", aka: []string{"header"},
		doc:   "Header fields. `host` replaces the URL's host and port, `expect: 100-continue` waits before the body is sent. `content-length`, `transfer-encoding` and `connection` are perfplan's own.",
		shape: &shape{noun: "a map of header names to text", names: freeNames, each: templateShape}},
	{name: "body", shape: templateShape, told: "no body", example: "'{\"limit\": 50}'", aka: []string{"data_raw", "payload"}, doc: "Body of the request."},
	{name: "body_template", shape: pathShape, example: "data/body.json.tmpl", aka: []string{"template"}, doc: "File whose text is the body; `${…}` is looked up in it as in `body`."},
	{name: "json", shape: &shape{noun: "a JSON value", scalar: anyValue}, example: "{limit: 50, ids: [1, 2]}", aka: []string{"body_json"},
		doc: "Body as JSON, written as YAML. Sets `content-type: application/json` where `headers` have none. Without data columns: those go into `body`."},
	{name: "form", example: "{user: \"${user.name}\", tag: [x, y]}", aka: []string{"form_data", "urlencoded"},
		doc: "Body as the fields of a form, encoded, in this order. Sets `content-type: application/x-www-form-urlencoded` where `headers` have none.",
		shape: &shape{noun: "a map of fields to text", names: freeNames,
			each: &shape{noun: "text, or a list of texts", scalar: templateScalar, list: templateShape}}},
	{name: "compression", def: "none", example: "gzip", aka: []string{"accept_encoding", "gzip", "compress", "encoding"},
		doc:   "`gzip` sends `accept-encoding: gzip`, as browsers and most clients do; expectations on the body and `extract` see what an answer holds unpacked, while `size` and all figures count the bytes that were sent. `none` asks for no packing.",
		shape: &shape{noun: "none or gzip", scalar: textScalar, rule: "oneof=none gzip"}},
	{name: "auth", example: "{bearer: \"${secret.token}\"}", aka: []string{"authorization", "authentication"}, doc: "Header `authorization`.",
		shape: &shape{noun: "a map with basic or bearer", one: []string{"basic", "bearer"}, keys: []key{
			{name: "basic", example: "{user: tester, password: \"${secret.password}\"}", doc: "User and password (RFC 7617).",
				shape: &shape{noun: "a map with user and password", keys: []key{
					{name: "user", required: true, shape: textShape, example: "tester", doc: "User, without a colon."},
					{name: "password", required: true, shape: textShape, example: "${secret.password}", doc: "Password."},
				}}},
			{name: "bearer", shape: templateShape, example: "${secret.token}", doc: "Token (RFC 6750)."},
		}}},
	{name: "body_file", shape: pathShape, example: "data/body.json", aka: []string{"file"}, doc: "File whose bytes are the body, read once when the plan is loaded. `${…}` is not looked up in it."},
	{name: "data", example: "{user: data/users.csv}", aka: []string{"feeder", "datasets"},
		doc:   "Tables by name: `.csv` with a header line, or `.jsonl` with an object per line, both also packed as `.gz`. `${user.id}` in path, query, headers and body is the column `id` of one row; row i serves request i, from the start again after the last, unless a map says otherwise. See [Data](#data).",
		shape: &shape{noun: "a map of names to files", each: tableShape, names: varNames, some: true}},
	{name: "redirects", def: "0", example: "5", aka: []string{"follow_redirects", "max_redirects"}, doc: "How many redirects are followed. With 0 the answer counts as it is.",
		shape: &shape{noun: "a whole number", scalar: integerScalar, rule: "gte=0,lte=20"}},
	{name: "expect", def: "{}", example: "{status: 200}", aka: []string{"assert", "check"}, doc: "What a completed answer looks like. Every other one counts as failed.",
		shape: &shape{noun: "a map with status, headers, contains, matches, size, json or schema", keys: []key{
			{name: "status", def: "2xx", example: "[200, 404]", doc: "Status code, or class like `2xx`, or a list of them.",
				shape: statusShape},
			{name: "headers", example: "{content-type: application/json}", aka: []string{"header"},
				doc: "Header fields of the answer: the text that one is, or conditions on it.",
				shape: &shape{noun: "a map of header names to texts or conditions", names: freeNames, some: true,
					each: &shape{noun: "text, or a map with exists, equals or matches", scalar: textScalar, some: true, keys: []key{
						{name: "exists", shape: booleanShape, example: "false", doc: "Whether the field is there."},
						{name: "equals", shape: textShape, example: "no-store", doc: "Text that it is."},
						{name: "matches", shape: patternShape, example: "max-age=[0-9]+", doc: "Regular expression that it matches somewhere."},
					}}}},
			{name: "contains", shape: filledText, example: "total", doc: "Text that the body holds.", aka: []string{"body"}},
			{name: "matches", shape: patternShape, example: "'total: [0-9]+'", aka: []string{"regex", "regexp", "pattern"},
				doc: "Regular expression ([RE2](https://github.com/google/re2/wiki/Syntax)) that the body matches somewhere."},
			{name: "size", example: "{min: 100, max: 20000}", aka: []string{"body_size", "bytes"}, doc: "Bytes of the body.",
				shape: &shape{noun: "a map with min or max", some: true, keys: []key{
					{name: "min", shape: &shape{noun: "a whole number", scalar: integerScalar, rule: "gte=0,lte=1000000000000"}, example: "100", doc: "At least."},
					{name: "max", shape: &shape{noun: "a whole number", scalar: integerScalar, rule: "gte=0,lte=1000000000000"}, example: "20000", doc: "At most."},
				}}},
			{name: "schema", shape: pathShape, example: "schemas/items.json", aka: []string{"json_schema"},
				doc: "JSON Schema (draft 2020-12 and before) that a JSON body meets, a file that refers to no others. It costs much more than other checks."},
			{name: "json", example: "{$.items: {length: 50}}", aka: []string{"jsonpath"}, doc: "Conditions on places of a JSON body, such as `$.items[0].title`.",
				shape: &shape{noun: "a map of places like $.items to conditions", names: freeNames, some: true,
					each: &shape{noun: "a map with exists, equals, length, min, max or matches", some: true, keys: []key{
						{name: "exists", shape: booleanShape, example: "true", doc: "Whether the place is there."},
						{name: "equals", shape: &shape{noun: "a JSON value", scalar: anyValue}, example: "[1, 2]", doc: "Value that stands there."},
						{name: "length", shape: &shape{noun: "a whole number", scalar: integerScalar, rule: "gte=0,lte=1000000000"}, example: "50", doc: "Number of entries of a list or map, or of characters of a text."},
						{name: "min", shape: numberShape, example: "0.5", doc: "Least value of a number."},
						{name: "max", shape: numberShape, example: "100", doc: "Greatest value of a number."},
						{name: "matches", shape: patternShape, example: "^[A-Z]", doc: "Regular expression that a text, or the JSON of any other value, matches somewhere."},
					}}}},
		}}},
}}}

// tableShape is the path of a table, or a map that says more about it.
var tableShape = &shape{noun: "the path of a file, or a map with file", scalar: textScalar, rule: "min=1", some: true, keys: []key{
	{name: "file", required: true, shape: pathShape, example: "data/users.jsonl.gz", aka: []string{"path", "csv", "jsonl", "source"}, doc: "The file."},
	{name: "order", def: "sequential", example: "shuffled", aka: []string{"strategy", "mode", "pick"},
		doc:   "Which row serves request i of a stage, counted from 0. `sequential`: row i, from the first again after the last. `shuffled`: each pass has all rows in a random order of its own. `unique`: row i, and none twice: a stage that plans more requests than rows is refused. `weighted`: drawn at random by `weight`.",
		shape: &shape{noun: "sequential, shuffled, unique or weighted", scalar: textScalar, rule: "oneof=sequential shuffled unique weighted"}},
	{name: "weight", shape: filledText, example: "share", aka: []string{"weights", "weight_column"}, doc: "Column with a number from 0: a row is drawn in proportion to it. With `order: weighted`."},
	{name: "seed", shape: seedShape, told: "`1`", example: "7", doc: "Decides the order: the same seed gives the same one. With `order: shuffled` or `weighted`."},
	{name: "end", told: "`cycle`; with `order: unique` neither", example: "stop", aka: []string{"at_end", "on_end"},
		doc:   "What happens when all rows have served a request. `cycle` begins again; `stop` ends the offering of the stage, whose load curve is cut there when the plan is read.",
		shape: &shape{noun: "cycle or stop", scalar: textScalar, rule: "oneof=cycle stop"}},
	{name: "columns", told: "the first line of the file", example: "[id, name]", aka: []string{"header", "fields"}, doc: "Names of the columns of a CSV file that has no header line.",
		shape: &shape{noun: "a list of names", list: filledText, some: true}},
}}

var stagesShape = &shape{noun: "a list of stages", some: true, list: &shape{noun: "a stage, such as {name: hold, load: {rate: 50/s, for: 1m}}",
	one: []string{"microbenchmark", "warmup", "load", "compare"}, keys: []key{
		{name: "name", required: true, shape: nameShape, example: "hold", doc: "Name of the stage, used once in a plan."},
		{name: "alongside", shape: &shape{noun: "a name", scalar: textScalar, rule: "min=1,max=100", open: true, of: "stages"}, told: "it begins when the stage before has ended", example: "shoppers", aka: []string{"parallel", "with", "beside"},
			doc: "Name of a load stage before it, at the same time as which this one runs. The stage behind them begins when all have ended."},
		{name: "delay", shape: pauseShape, told: "none", example: "10s", aka: []string{"start", "start_after", "offset", "start_time"},
			doc: "Time until the stage begins: since the end of the one before, or since the beginning of the one that it runs alongside."},
		{name: "confirm", told: "`1`: it is not measured again", example: "3", aka: []string{"retries", "retry", "repeat", "looks", "rerun"},
			doc:   "How often the stage is measured at most, an odd number. Where an SLO fails it is measured again until each SLO has failed, or passed, in more than half of that many looks. See [Confirm before red](slo.md#confirm-before-red).",
			shape: &shape{noun: "an odd whole number", scalar: integerScalar, rule: "gte=1,lte=9"}},
		{name: "extend", shape: durationShape, told: "none", example: "2m", aka: []string{"extension", "extend_by", "budget"},
			doc: "Time for which the load is offered over again, as often as fits, while what was measured leaves an SLO undecided. See [Extend while undecided](slo.md#extend-while-undecided)."},
		{name: "microbenchmark", shape: benchShape, example: "{subject: {command: ./subject}, sizes: [1000]}", aka: []string{"benchmark", "bench"},
			doc: "Time a subject over sizes of its input."},
		{name: "warmup", shape: warmupShape, example: "{rate: 50/s, until: steady}", aka: []string{"warm_up"}, doc: "Send load whose times are thrown away, but counted."},
		{name: "load", shape: loadShape, example: "{rate: 50/s, for: 1m}", aka: []string{"constant", "test"},
			doc: "Offer requests at a rate, whatever the target does."},
		{name: "compare", shape: compareShape, example: "{base: {commit: main}, rate: 50/s, for: 10s}", aka: []string{"ab", "versus"},
			doc: "Run a load against two versions in pairs, and say whether the new one is worse. See [slo.md](slo.md#two-versions)."},
		{name: "slo", shape: slosShape, example: "[p99 < 150ms]", doc: "Assertions on this stage. See [slo.md](slo.md).",
			aka: []string{"assert", "asserts", "assertions", "thresholds", "slos", "checks"}},
	}}}

var sideShape = &shape{noun: "a map with target or commit", keys: []key{
	{name: "target", shape: targetName, told: "that of the request", example: "shop", doc: "Name of the target."},
	{name: "commit", shape: &shape{noun: "a commit, branch or tag", scalar: textScalar, rule: "min=1,max=200", open: true}, told: "as it is", example: "main", aka: []string{"ref", "branch", "tag", "revision"},
		doc: "Commit of the plan's repository at which the target is built and started, in a checkout of its own that is removed in the end."},
}}

var compareShape = &shape{noun: "a comparison, such as {base: {commit: main}, rate: 50/s, for: 10s}", keys: []key{
	{name: "base", required: true, shape: sideShape, example: "{commit: main}", aka: []string{"old", "before", "baseline"}, doc: "The version that is there."},
	{name: "new", def: "{}", shape: sideShape, example: "{target: shop}", aka: []string{"candidate", "after"}, doc: "The version that is to come."},
	{name: "request", shape: requestName, told: "the only request", example: "home", doc: "Name of the request to send to both."},
	{name: "arrivals", def: "uniform", example: "poisson", doc: "`uniform` is evenly spaced, `poisson` comes at random as independent users do; both versions get the same.",
		shape: &shape{noun: "uniform or poisson", scalar: textScalar, rule: "oneof=uniform poisson"}},
	{name: "seed", def: "1", shape: seedShape, example: "7", doc: "Decides what is drawn at random."},
	{name: "rate", required: true, shape: rateShape, example: "50/s", aka: []string{"rps", "qps"}, doc: "Arrivals per second, minute or hour."},
	{name: "for", required: true, shape: durationShape, example: "10s", aka: []string{"duration"}, doc: "Length of each run."},
	{name: "alternate", told: "one run after the other", example: "250ms", aka: []string{"turns", "interleave", "slice"}, shape: &shape{noun: "a duration like 250ms", scalar: durationScalar, rule: "gte=50ms,lte=1h"},
		doc: "Both versions of a pair run at the same time, and load goes to them in turns of this length: what the machine does meanwhile is then in both. For two targets."},
	{name: "warm", def: "1s", shape: pauseShape, example: "5s", doc: "Load before each run, whose times are thrown away."},
	{name: "margin", def: "10%", example: "5%", doc: "The change to the worse that matters.", shape: &shape{noun: "a percentage like 10%", scalar: textScalar, rule: "min=1", open: true}},
	{name: "pairs", def: "12", example: "8", doc: "Most pairs of runs; it is looked at them after 5, 8 and 12.", shape: &shape{noun: "5, 8 or 12", scalar: integerScalar, rule: "oneof=5 8 12"}},
	{name: "metrics", told: "p50 and p99", example: "[p99, throughput]", doc: "What is compared: percentiles and `mean` of the response time, with `service` before them of the service time, and `throughput`.",
		shape: &shape{noun: "a list of metrics like p99", some: true, list: &shape{noun: "a metric like p99", scalar: textScalar, rule: "min=1", open: true}}},
	{name: "max_in_flight", def: "256", shape: inFlightShape, example: "1000", doc: "Most requests in flight."},
	{name: "timeout", def: "10s", shape: durationShape, example: "2s", doc: "Longest time to the last byte of the answer."},
}}

var benchShape = &shape{noun: "a microbenchmark", keys: []key{
	{name: "build", shape: commandShape, example: "make subject", doc: "Command that is run once before the stage, in the subject's folder."},
	{name: "subject", required: true, shape: subjectShape, example: "{command: ./subject}", doc: "What is timed. See [Subjects](#subjects)."},
	{name: "sizes", told: "none, or those in the results", example: "{from: 1000, to: 10000, step: 1000}", doc: "Sizes of the input, ascending: a list, a range in equal steps, or one in which each is `times` the one before. A subject with `command` needs them; the others have them as `${size}`.",
		shape: &shape{noun: "a list of whole numbers, {from, to, step} or {from, to, times}", some: true, list: sizeShape, keys: []key{
			{name: "from", required: true, shape: sizeShape, example: "1000", doc: "Smallest size."},
			{name: "to", required: true, shape: sizeShape, example: "10000", doc: "Largest size."},
			{name: "step", told: "`times` is given", shape: sizeShape, example: "1000", aka: []string{"by"}, doc: "Distance of two sizes."},
			{name: "times", told: "`step` is given", shape: &shape{noun: "a whole number", scalar: integerScalar, rule: "gte=2,lte=1000000000"}, example: "10", aka: []string{"factor", "multiply"}, doc: "Ratio of two sizes."},
		}}},
	{name: "parameters", told: "none", example: "{algorithm: [quick, heap], threads: [1, 2]}", aka: []string{"params", "parameter", "args", "matrix"},
		doc: "Further dimensions of the grid: every size is measured with every value of every parameter. Subjects get them in `setup`, or as `${name}` in the texts of `go` and `time`.",
		shape: &shape{noun: "a map of names to lists of values", names: varNames, some: true,
			each: &shape{noun: "a list of values", some: true, list: &shape{noun: "a value without blanks", scalar: textScalar, rule: "min=1,max=100", open: true}}}},
	{name: "forks", def: "3", example: "5", doc: "Fresh processes per size; of `time`, groups of runs.", shape: &shape{noun: "a whole number", scalar: integerScalar, rule: "gte=1,lte=1000"}},
	{name: "samples", def: "12", example: "36", doc: "Samples per fork and size.", shape: &shape{noun: "a whole number", scalar: integerScalar, rule: "gte=1,lte=100000"}},
	{name: "min_time", def: "20ms", shape: durationShape, example: "5ms", doc: "Least measured time of a sample; short work is repeated until it lasts so long."},
	{name: "warmup", def: "auto", example: "2s", doc: "`auto` runs until the times are steady, at most 5s; `none` and a duration are what they say.",
		shape: &shape{noun: "auto, none or a duration like 2s", scalar: textScalar, open: true, like: []string{"auto", "none"}}},
	{name: "timeout", def: "60s", shape: durationShape, example: "5m", doc: "Longest time to wait for one answer of the subject."},
	{name: "seed", def: "1", shape: seedShape, example: "7", doc: "Decides the order of the forks."},
	{name: "reference", example: "{name: published, source: the article, points: {1000: 23.57ms}}", doc: "A published series to draw beside the measured one.",
		shape: &shape{noun: "a map with name, source and points", keys: []key{
			{name: "name", required: true, shape: filledText, example: "JVM service, published", doc: "What it is."},
			{name: "source", shape: textShape, example: "ScalaMeter, 36 samples", doc: "Where it is from."},
			{name: "points", required: true, example: "{1000: 23.57ms, 2000: 44.48ms}", doc: "Time at each size.",
				shape: &shape{noun: "a map of sizes to durations", each: durationShape, names: numberNames, some: true}},
		}}},
}}

// subjectShape says what a microbenchmark times.
var subjectShape = &shape{noun: "a map with command, go, time, shell or results", one: []string{"command", "go", "time", "shell", "results"}, keys: []key{
	{name: "command", shape: commandShape, example: "bin/shop bench", doc: "A program that speaks the subject protocol on standard input and output. See [subject-protocol.md](subject-protocol.md)."},
	{name: "go", example: "{package: ./shop, benchmark: \"BenchmarkSort/size=${size}\"}", doc: "A benchmark of a Go package, which is built once and run with the loop of Go's own `testing`. Needs Go.",
		shape: &shape{noun: "a map with package and benchmark", keys: []key{
			{name: "package", required: true, shape: &shape{noun: "a Go package like ./shop", scalar: textScalar, rule: "min=1", open: true}, example: "./shop", aka: []string{"pkg"}, doc: "The package, as `go test` takes it in `dir`."},
			{name: "benchmark", required: true, shape: &shape{noun: "the name of a benchmark", scalar: gridScalar, rule: "min=1"}, example: "\"BenchmarkSort/size=${size}\"", aka: []string{"bench", "name"},
				doc: "Its name, with that of a sub-benchmark behind a slash. `${size}` and `${name}` of a parameter stand in it for the values of the grid."},
		}}},
	{name: "time", shape: &shape{noun: "a command like sort data.txt, or a list of its words", scalar: gridCommand, list: &shape{noun: "text", scalar: gridScalar}, some: true},
		example: "./import --rows ${size}", aka: []string{"run", "exec"}, doc: "A command that is timed whole, from its start to its end. `${size}` and `${name}` of a parameter stand in it for the values of the grid."},
	{name: "shell", shape: &shape{noun: "a text for sh -c", scalar: gridScalar, rule: "min=1"}, example: "sort data-${size}.txt > sorted.txt", aka: []string{"sh", "script"},
		doc: "A text for `sh -c` that is timed whole. How long an empty shell takes is measured, too, and taken off."},
	{name: "results", example: "{file: target/jmh.json}", aka: []string{"import", "file"}, doc: "What another tool has measured. Nothing is run but `build`, which may be that tool.",
		shape: &shape{noun: "a map with file", keys: []key{
			{name: "file", required: true, shape: pathShape, example: "target/jmh.json", doc: "The file, or for `criterion` the folder. It is read when the stage begins."},
			{name: "format", told: "found out from the file", example: "jmh", doc: "Which tool wrote it.",
				shape: &shape{noun: "the name of a tool", scalar: textScalar, rule: "oneof=go jmh google-benchmark criterion pytest-benchmark hyperfine scalameter"}},
			{name: "benchmark", told: "all, each as a value of the parameter `benchmark`", shape: filledText, example: "sort", aka: []string{"name"}, doc: "The one benchmark of the file that is taken."},
		}}},
	{name: "dir", shape: folderShape, told: "the plan's folder", example: "..", doc: "Folder in which it runs."},
}}

var sizeShape = &shape{noun: "a whole number", scalar: integerScalar, rule: "gte=1,lte=1000000000"}

var timeoutFromKey = key{name: "timeout_from", def: "sent", example: "intended",
	doc:   "`sent` counts the timeout from the send. `intended` counts it from the intended time; an arrival whose time is up while it waits at `max_in_flight` is dropped.",
	shape: &shape{noun: "sent or intended", scalar: textScalar, rule: "oneof=sent intended"}}

var timeoutsKey = key{name: "timeouts", told: "only `timeout`", example: "{connect: 1s, first_byte: 2s}", aka: []string{"phase_timeouts", "connect_timeout", "timeout_connect"},
	doc: "Longest times of parts of a request, each within `timeout`. A breach is a failure of kind `timeout` that names it.",
	shape: &shape{noun: "a map with connect or first_byte", some: true, keys: []key{
		{name: "connect", shape: durationShape, told: "none", example: "1s", aka: []string{"dial", "tcp", "connection"}, doc: "Until a connection is open, the TLS handshake included."},
		{name: "first_byte", shape: durationShape, told: "none", example: "2s", aka: []string{"ttfb", "response", "read", "header"}, doc: "From the sending, on an open connection, to the first byte of the answer."},
	}}}

// connectingKeys are those of stages that send requests.
var connectingKeys = []key{
	{name: "keep_alive", def: "true", shape: booleanShape, example: "false", aka: []string{"keepalive"}, doc: "`false` opens a connection for each request."},
	{name: "requests_per_connection", shape: &shape{noun: "a whole number", scalar: integerScalar, rule: "gte=1,lte=1000000000"}, told: "any number", example: "100",
		aka: []string{"requests_per_conn", "max_requests_per_connection", "reuse"},
		doc: "A connection is closed after so many requests, from 2; the next one that needs it opens another."},
	{name: "connections", shape: inFlightShape, told: "as many as are needed", example: "64", aka: []string{"conns", "connections_per_host", "pool_size", "max_connections"},
		doc: "Connections to each host: opened before the first arrival, used in turn, opened again when they end, and never more than these. An arrival that finds none free waits for one of its host, in order and with its intended time kept, as at `max_in_flight`, or is dropped by `at_max: drop`."},
}

// thinkShape is a time in which a user does nothing.
var thinkShape = &shape{noun: "a duration like 1s, or {from, to}", scalar: durationScalar, rule: "gt=0s,lte=720h", keys: []key{
	{name: "from", required: true, shape: pauseShape, example: "500ms", aka: []string{"min"}, doc: "The shortest."},
	{name: "to", required: true, shape: durationShape, example: "2s", aka: []string{"max"}, doc: "The longest."},
}}

var flowsShape = &shape{noun: "a map of names to flows", some: true, each: &shape{noun: "a flow, such as {steps: [{request: home}]}", keys: []key{
	{name: "cookies", def: "true", shape: booleanShape, example: "false", doc: "The user of a flow keeps the cookies that answers set, and sends them with the steps that follow."},
	{name: "steps", required: true, example: "[{request: home}, {request: search, think: 1s}]", aka: []string{"requests", "sequence", "scenario"}, doc: "The requests, in this order. Each is sent when the answer to the one before is there. A step that fails ends the flow.",
		shape: &shape{noun: "a list of steps", some: true, list: stepShape}},
}}}

var stepShape = &shape{noun: "a step, such as {request: home}", keys: []key{
	{name: "request", required: true, shape: requestName, example: "home", doc: "Name of the request to send."},
	{name: "think", shape: thinkShape, told: "none", example: "1s", aka: []string{"pause", "wait", "sleep", "delay", "think_time"},
		doc: "Time between the answer before and the request: a duration, or `{from: 500ms, to: 2s}` to draw one evenly between two."},
	{name: "when", example: "{status: 404}", aka: []string{"if", "condition"}, doc: "The step is only made when the answer before has this status.",
		shape: &shape{noun: "a map with status", keys: []key{
			{name: "status", required: true, shape: statusShape, example: "[200, 404]", doc: "Status code, or class like `2xx`, or a list of them."},
			{name: "otherwise", def: "skip", example: "end", aka: []string{"else"}, doc: "With another status `skip` leaves out this step, `end` ends the flow, which is completed then.",
				shape: &shape{noun: "skip or end", scalar: textScalar, rule: "oneof=skip end"}},
		}}},
	{name: "extract", example: "{token: {json: $.token}}", aka: []string{"capture", "save", "extractors"}, doc: "Texts to take from the answer, by name. Requests of later steps use them as `${flow.name}` in path, query, headers and body. An answer without one has failed, unless there is a `default`.",
		shape: &shape{noun: "a map of names to what is taken", names: varNames, some: true, each: &shape{noun: "a map with json, header or regex", one: []string{"json", "header", "regex"}, keys: []key{
			{name: "json", shape: filledText, example: "$.items[0].id", aka: []string{"jsonpath", "json_path"}, doc: "Place in a JSON body. A text is taken without its quotes, all else as JSON."},
			{name: "header", shape: filledText, example: "location", doc: "Header field, the first of that name."},
			{name: "regex", shape: patternShape, example: "'name=\"csrf\" value=\"([^\"]+)\"'", aka: []string{"regexp", "pattern", "matches"}, doc: "Regular expression (RE2) on the body: its first group, or all that it matches where it has none."},
			{name: "default", shape: textShape, told: "the step fails", example: "none", doc: "What to take where the answer has no such text."},
		}}}},
}}

var flowName = &shape{noun: "a name", scalar: textScalar, rule: "min=1,max=100", open: true, of: "flows"}

var flowKey = key{name: "flow", shape: flowName, example: "buy", aka: []string{"journey"}, doc: "Name of the flow that each arrival begins. Instead of `request`."}

var statusShape = &shape{noun: "a status like 200 or 2xx, or a list of them", scalar: textScalar, some: true, open: true,
	list: &shape{noun: "a status like 200 or 2xx", scalar: textScalar, open: true}}

var mixKey = key{name: "mix", example: "{home: 9, search: 1}", aka: []string{"requests", "scenarios", "weights", "weighted"},
	doc:   "Requests or flows of one target by name, with whole weights: each arrival draws one at random (by `seed`). The report and [assertions](slo.md) have each apart. Instead of `request`.",
	shape: &shape{noun: "a map of requests or flows to weights", names: freeNames, some: true, each: &shape{noun: "a whole number", scalar: integerScalar, rule: "gte=1,lte=1000000"}}}

var warmupShape = &shape{noun: "a warm-up, such as {rate: 50/s, until: steady}", keys: []key{
	{name: "request", shape: requestName, told: "the only request", example: "home", doc: "Name of the request to send."},
	mixKey, flowKey,
	{name: "rate", required: true, shape: rateShape, example: "50/s", aka: []string{"rps", "qps"}, doc: "Arrivals per second, minute or hour, evenly spaced."},
	{name: "until", told: "`steady`, unless `for` is given", example: "steady", doc: "`steady` ends it when the times no longer change.",
		shape: &shape{noun: "steady", scalar: textScalar, rule: "oneof=steady"}},
	{name: "at_most", shape: durationShape, told: "`30s` with `until`", example: "1m", doc: "Ends it in any case.", aka: []string{"max", "within"}},
	{name: "for", shape: durationShape, example: "10s", aka: []string{"duration", "time"}, doc: "Ends it after this time, steady or not. Instead of `until`."},
	{name: "max_in_flight", shape: inFlightShape, told: "rate × timeout, from 16 to 10000", example: "64", aka: []string{"concurrency", "workers"}, doc: "Most requests under way at once."},
	{name: "timeout", def: "10s", shape: durationShape, example: "2s", doc: "Longest time to the last byte of the answer, counted as `timeout_from` says."},
	timeoutFromKey,
	timeoutsKey,
	connectingKeys[0], connectingKeys[1], connectingKeys[2],
}}

var loadShape = &shape{noun: "a load, such as {rate: 50/s, for: 1m}", keys: []key{
	{name: "request", shape: requestName, told: "the only request", example: "home", doc: "Name of the request to send."},
	mixKey, flowKey,
	{name: "arrivals", told: "`uniform`, unless there is a trace or `in_flight`", example: "poisson", doc: "`uniform` is evenly spaced, `poisson` comes at random as independent users do.",
		shape: &shape{noun: "uniform or poisson", scalar: textScalar, rule: "oneof=uniform poisson"}},
	{name: "rate", shape: rateShape, example: "250/s", aka: []string{"rps", "qps", "arrival_rate"}, doc: "Arrivals per second, minute or hour, the total over all hosts. With `for`, instead of `profile`."},
	{name: "for", shape: durationShape, example: "1m", aka: []string{"duration", "time", "each", "over"}, doc: "How long the rate is held. With `rate`, or with `in_flight`."},
	{name: "profile", example: "[{ramp: {from: 10/s, to: 100/s, over: 10s}}, {hold: {rate: 100/s, for: 1m}}]",
		doc: "Segments of the load, one after another. Instead of `rate` and `for`.", shape: profileShape, aka: []string{"stages", "segments"}},
	traceKey,
	{name: "in_flight", shape: inFlightShape, told: "open model", example: "32", aka: []string{"users", "vus", "virtual_users", "clients", "closed"},
		doc: "Closed model instead of a rate: so many users, who each send the next request, or begin the next flow, when the one before has ended. With `for`. See [Open and closed model](#open-and-closed-model)."},
	{name: "think", shape: thinkShape, told: "none", example: "500ms", aka: []string{"pause", "think_time"}, doc: "Time that each user of `in_flight` lets pass before the next request or flow: a duration, or `{from: 500ms, to: 2s}` to draw one evenly between two."},
	{name: "max_in_flight", shape: inFlightShape, told: "highest rate × timeout, from 16 to 10000", example: "256", aka: []string{"concurrency", "workers"},
		doc: "Most requests under way at once."},
	{name: "at_max", told: "`wait`", example: "drop", doc: "What becomes of an arrival at that bound: `wait` sends it late with its intended time kept, `drop` counts it and never sends it.",
		shape: &shape{noun: "wait or drop", scalar: textScalar, rule: "oneof=wait drop"}},
	{name: "timeout", def: "10s", shape: durationShape, example: "2s", doc: "Longest time to the last byte of the answer, counted as `timeout_from` says."},
	timeoutFromKey,
	timeoutsKey,
	{name: "drain", shape: pauseShape, told: "the timeout", example: "5s", doc: "Time after the last arrival in which answers are still awaited. `0s` awaits none."},
	connectingKeys[0], connectingKeys[1], connectingKeys[2],
	{name: "seed", def: "1", shape: seedShape, example: "7", doc: "Decides the random arrival times: the same seed gives the same ones."},
}}

// segmentKeys are the pieces that a rate is made of.
var segmentKeys = []key{
	{name: "ramp", example: "{from: 10/s, to: 100/s, over: 10s}", doc: "A rate that rises or falls evenly.",
		shape: &shape{noun: "a map with from, to and over", keys: []key{
			{name: "from", required: true, shape: rateShape, example: "10/s", doc: "Rate at its start."},
			{name: "to", required: true, shape: rateShape, example: "100/s", doc: "Rate at its end."},
			{name: "over", required: true, shape: durationShape, example: "10s", aka: []string{"for", "duration"}, doc: "How long it takes."},
		}}},
	{name: "hold", example: "{rate: 100/s, for: 1m}", doc: "A constant rate.", aka: []string{"constant"},
		shape: &shape{noun: "a map with rate and for", keys: []key{
			{name: "rate", required: true, shape: rateShape, example: "100/s", doc: "The rate."},
			{name: "for", required: true, shape: durationShape, example: "1m", aka: []string{"over", "duration"}, doc: "How long it lasts."},
		}}},
	{name: "step", example: "{from: 100/s, to: 400/s, by: 50/s, each: 30s}", doc: "Several constant rates, each a segment of its own, upwards or downwards.", aka: []string{"steps", "stairs"},
		shape: &shape{noun: "a map with from, to, by and each", keys: []key{
			{name: "from", required: true, shape: rateShape, example: "100/s", doc: "First rate."},
			{name: "to", required: true, shape: rateShape, example: "400/s", doc: "Last rate."},
			{name: "by", required: true, shape: rateShape, example: "50/s", doc: "Distance of two rates; it divides the way from first to last."},
			{name: "each", required: true, shape: durationShape, example: "30s", aka: []string{"for", "over"}, doc: "How long each lasts."},
		}}},
	{name: "spike", example: "{base: 50/s, peak: 500/s, before: 20s, for: 10s, after: 30s}", doc: "A base rate, a peak above it, and the base rate again: three segments, five with `rise` and `fall`.", aka: []string{"burst"},
		shape: &shape{noun: "a map with base, peak, before, for and after", keys: []key{
			{name: "base", required: true, shape: rateShape, example: "50/s", doc: "Rate before and after."},
			{name: "peak", required: true, shape: rateShape, example: "500/s", doc: "Rate of the peak."},
			{name: "before", required: true, shape: durationShape, example: "20s", doc: "How long the base rate lasts first."},
			{name: "rise", def: "0s", shape: pauseShape, example: "2s", doc: "How long the way up to the peak takes."},
			{name: "for", required: true, shape: durationShape, example: "10s", aka: []string{"hold", "over", "duration"}, doc: "How long the peak lasts."},
			{name: "fall", def: "0s", shape: pauseShape, example: "2s", doc: "How long the way down takes."},
			{name: "after", required: true, shape: durationShape, example: "30s", doc: "How long the base rate lasts in the end."},
		}}},
	{name: "sine", example: "{mean: 100/s, amplitude: 50/s, period: 1m, for: 10m}", doc: "A rate that swings around a mean, drawn with 64 straight pieces to a period. It begins at the mean, upwards.", aka: []string{"wave", "sinus"},
		shape: &shape{noun: "a map with mean, amplitude, period and for", keys: []key{
			{name: "mean", required: true, shape: rateShape, example: "100/s", doc: "Rate that it swings around."},
			{name: "amplitude", required: true, shape: rateShape, example: "50/s", doc: "How far, the mean at most."},
			{name: "period", required: true, shape: durationShape, example: "1m", doc: "Length of one swing."},
			{name: "for", required: true, shape: durationShape, example: "10m", aka: []string{"over", "duration"}, doc: "How long it lasts."},
		}}},
	{name: "csv", example: "{file: rates.csv}", doc: "A rate from a file with the columns `time` (from 0s on, ascending: durations, or seconds) and `rate` (rates, or arrivals per second), linear from row to row.",
		shape: &shape{noun: "a map with file", keys: []key{
			{name: "file", required: true, shape: pathShape, example: "rates.csv", doc: "The file."},
		}}},
}

// pieces are the names of the pieces.
func pieces(keys []key) []string {
	var names []string
	for _, k := range keys {
		names = append(names, k.name)
	}
	return names
}

const segmentNoun = "a segment, such as {hold: {rate: 50/s, for: 1m}}"

var repeatKey = key{name: "repeat", example: "{times: 3, profile: [{hold: {rate: 50/s, for: 30s}}, {hold: {rate: 200/s, for: 10s}}]}", doc: "Segments that come several times, one round after another.", aka: []string{"loop", "times"},
	shape: &shape{noun: "a map with times and profile", keys: []key{
		{name: "times", required: true, shape: &shape{noun: "a whole number", scalar: integerScalar, rule: "gte=2,lte=1000"}, example: "3", doc: "How many rounds."},
		{name: "profile", required: true, example: "[{hold: {rate: 50/s, for: 30s}}]", doc: "The segments of a round.",
			shape: &shape{noun: "a list of segments", some: true, list: &shape{noun: segmentNoun, one: pieces(segmentKeys), keys: segmentKeys}}},
	}}}

var profileShape = &shape{noun: "a list of segments", some: true, list: &shape{noun: segmentNoun,
	one: append(pieces(segmentKeys), "repeat"), keys: append(slices.Clone(segmentKeys), repeatKey)}}

// traceKey replays recorded arrivals.
var traceKey = key{name: "trace", example: "{file: access.log, speed: 10}", aka: []string{"replay", "log"},
	doc: "Recorded arrivals in place of a rate: the times of an access log or of a table, since the first of them. Instead of `rate`, `for` and `profile`.",
	shape: &shape{noun: "a map with file, format, column and speed", keys: []key{
		{name: "file", required: true, shape: pathShape, example: "access.log", doc: "The file. Its times may be in any order."},
		{name: "format", def: "auto", example: "csv", doc: "`log` is an access log in the Common or Combined Log Format, whose arrivals of one second are spread evenly over it. `csv` and `jsonl` are tables. `auto` goes by the ending of the file's name, `log` where it says nothing.",
			shape: &shape{noun: "auto, log, csv or jsonl", scalar: textScalar, rule: "oneof=auto log csv jsonl"}},
		{name: "column", told: "`time`", shape: filledText, example: "timestamp", doc: "Column of a table with the times: RFC 3339, or seconds since 1970 with a fraction."},
		{name: "speed", def: "1", shape: &shape{noun: "a number above 0", scalar: textScalar, rule: "min=1"}, example: "10", doc: "How many times faster than recorded."},
	}}}
