/** The table of settings: what each is called, what holds when it is unset, and what it does. */

/** One row of the settings table: `--help` and the README are printed from it. */
export type Setting = { readonly name: string; readonly fallback: string; readonly about: string };

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];

export const SETTINGS: readonly Setting[] = [
  { name: 'SPANDREL_HOST', fallback: '127.0.0.1', about: 'Address to listen on; 0.0.0.0 opens it to the network.' },
  {
    name: 'SPANDREL_PORT',
    fallback: '5560',
    about: 'Port for every protocol; 0 picks a free one, which the ready line prints.',
  },
  {
    name: 'SPANDREL_DATABASE_URL',
    fallback: 'sqlite:./data/spandrel.db',
    about: 'Where data lives: sqlite: and a path, or postgres://user:password@host:port/database.',
  },
  {
    name: 'SPANDREL_DATABASE_CONNECTIONS',
    fallback: '10',
    about:
      'PostgreSQL connections of this process for reading; eleven more are for writing, authentication and deliveries.',
  },
  {
    name: 'SPANDREL_DATABASE_UNSAFE',
    fallback: 'off',
    about: 'on accepts a PostgreSQL that may lose what it has acknowledged.',
  },
  {
    name: 'SPANDREL_SECRET',
    fallback: '<data folder>/secret',
    about: 'Root of every derived key, at least 32 characters; written once beside a SQLite file when unset.',
  },
  { name: 'SPANDREL_PUBLIC_URL', fallback: 'the listening address', about: 'Base of the links in responses.' },
  {
    name: 'SPANDREL_LOG_LEVEL',
    fallback: 'info',
    about: `One of ${LOG_LEVELS.join(', ')}; refused requests are logged at info, all others at debug.`,
  },
  { name: 'SPANDREL_TRACING', fallback: 'on', about: 'on or off: trace ids in headers and error bodies.' },
  { name: 'SPANDREL_METRICS', fallback: 'on', about: 'on or off: the page /metrics, which needs no key.' },
  { name: 'SPANDREL_CONSOLE', fallback: 'on', about: 'on or off: the console for people, at /.' },
  { name: 'SPANDREL_CORS_ORIGINS', fallback: '*', about: '*, none, or exact origins separated by commas.' },
  {
    name: 'SPANDREL_TRUSTED_PROXIES',
    fallback: '',
    about: 'Addresses or networks of reverse proxies, separated by commas, whose X-Forwarded-For names the caller.',
  },
  { name: 'SPANDREL_TLS_CERT', fallback: '', about: 'PEM file; with SPANDREL_TLS_KEY the port speaks TLS only.' },
  { name: 'SPANDREL_TLS_KEY', fallback: '', about: 'PEM file of the private key.' },
  {
    name: 'SPANDREL_KEY_PREFIX',
    fallback: 'sk-lw-',
    about: 'Token prefixes separated by commas: the first mints, all are accepted.',
  },
  { name: 'SPANDREL_BOOTSTRAP_PROJECT_KEY', fallback: 'minted', about: 'Imposes the first project key.' },
  { name: 'SPANDREL_BOOTSTRAP_ADMIN_KEY', fallback: 'minted', about: 'Imposes the first admin key.' },
  {
    name: 'SPANDREL_BOOTSTRAP_ORGANIZATION_ID',
    fallback: 'minted',
    about: 'Imposes the id of the first organization.',
  },
  { name: 'SPANDREL_BOOTSTRAP_PROJECT_ID', fallback: 'minted', about: 'Imposes the id of the first project.' },
  {
    name: 'SPANDREL_BOOTSTRAP_ORGANIZATION',
    fallback: 'Default organization',
    about: 'Name of the first organization.',
  },
  { name: 'SPANDREL_BOOTSTRAP_TEAM', fallback: 'Default team', about: 'Name of the first team.' },
  { name: 'SPANDREL_BOOTSTRAP_PROJECT', fallback: 'Default project', about: 'Name of the first project.' },
  { name: 'SPANDREL_BOOTSTRAP_ADMIN_EMAIL', fallback: 'admin@localhost', about: 'E-mail of the first administrator.' },
  {
    name: 'SPANDREL_MAX_BODY_BYTES',
    fallback: '10485760',
    about: 'Largest collector body, on the wire and decompressed.',
  },
  { name: 'SPANDREL_MAX_SPANS_PER_REQUEST', fallback: '10000', about: 'Spans in one collector request.' },
  {
    name: 'SPANDREL_MAX_SPANS_PER_TRACE',
    fallback: '100000',
    about: 'Spans of one trace; more are refused one by one, and those it has can still be replaced.',
  },
  { name: 'SPANDREL_MAX_EVALUATIONS_PER_REQUEST', fallback: '2000', about: 'Evaluations in one collector request.' },
  { name: 'SPANDREL_MAX_STRING_BYTES', fallback: '1048576', about: 'Longer strings are cut and marked.' },
  { name: 'SPANDREL_MAX_JSON_DEPTH', fallback: '64', about: 'Nesting of one free JSON value.' },
  { name: 'SPANDREL_MAX_FUTURE_MS', fallback: '86400000', about: 'How far ahead of this clock a timestamp may be.' },
  {
    name: 'SPANDREL_INGEST_QUEUE_BYTES',
    fallback: '67108864',
    about: 'Bytes of bodies, from the first one that arrives to the commit, before new ones are refused.',
  },
  {
    name: 'SPANDREL_ANSWER_BYTES',
    fallback: '67108864',
    about: 'Bytes of responses that clients have not read yet before new ones are refused; a caller has a quarter.',
  },
  {
    name: 'SPANDREL_MAX_INFLIGHT',
    fallback: '1024',
    about: 'Requests in progress before new ones are refused; a caller has a quarter.',
  },
  {
    name: 'SPANDREL_MAX_ARRIVING',
    fallback: '1024',
    about: 'Requests whose bodies are on their way before new ones are refused; a caller has a quarter.',
  },
  { name: 'SPANDREL_MAX_CONNECTIONS', fallback: '10000', about: 'Open connections before new ones are closed.' },
  { name: 'SPANDREL_MAX_TAILS', fallback: '4000', about: 'Live tails of traces open at once on this process.' },
  { name: 'SPANDREL_MAX_TAILS_PER_PROJECT', fallback: '1000', about: 'Live tails of one project at once.' },
  { name: 'SPANDREL_MAX_TAILS_PER_CREDENTIAL', fallback: '1000', about: 'Live tails of one key at once.' },
  {
    name: 'SPANDREL_RECONNECT_PENALTY_MS',
    fallback: '1000',
    about:
      'How long an address may not connect after an HTTP/2 session of it was cut for abuse; doubles up to 60000. 0 behind a proxy that all clients share.',
  },
  {
    name: 'SPANDREL_TRACE_RETENTION_DAYS',
    fallback: 'for ever',
    about: 'Days until traces are deleted, 1 to 3650, in projects that did not choose for themselves.',
  },
  {
    name: 'SPANDREL_AUDIT_RETENTION_DAYS',
    fallback: '0',
    about: 'Days until entries of the audit log are deleted, at most 3650; 0 keeps them for ever.',
  },
  {
    name: 'SPANDREL_SETTLEMENT_GRACE_MS',
    fallback: '1800000',
    about: 'How long the outcome of an admitted request is waited for before it settles.',
  },
  {
    name: 'SPANDREL_WEBHOOK_ALLOW',
    fallback: '',
    about:
      'Private destinations that webhooks may go to: hosts, addresses or networks, with a port or without, separated by commas.',
  },
  {
    name: 'SPANDREL_WEBHOOK_CONCURRENCY',
    fallback: '2048',
    about: 'Webhook attempts of this process under way at once, at most 16384.',
  },
  {
    name: 'SPANDREL_WEBHOOK_MAX_PER_HOUR',
    fallback: 'no limit',
    about: 'Webhook attempts of one organization within an hour; the others wait for the next.',
  },
  {
    name: 'SPANDREL_WEBHOOK_MAX_ENDPOINTS',
    fallback: '5000',
    about: 'Webhook endpoints of one organization, at most 100000.',
  },
  {
    name: 'SPANDREL_ALLOW_AMBIENT_AWS',
    fallback: '',
    about: '1 lets webhooks to SQS use the AWS credentials of this server.',
  },
  { name: 'SPANDREL_DRAIN_MS', fallback: '10000', about: 'How long a stop waits for requests in progress.' },
  {
    name: 'SPANDREL_LLM_BASE_URL',
    fallback: '',
    about:
      'OpenAI-compatible endpoint, such as https://api.openai.com/v1, that evaluators ask; without it they are skipped.',
  },
  { name: 'SPANDREL_LLM_API_KEY', fallback: '', about: 'Sent to that endpoint as a bearer token.' },
  { name: 'SPANDREL_LLM_MODEL', fallback: 'gpt-5-mini', about: 'The model that evaluators ask unless they name one.' },
  { name: 'SPANDREL_LLM_TIMEOUT_MS', fallback: '30000', about: 'How long one attempt at a judgement may take.' },
  { name: 'SPANDREL_LLM_CONCURRENCY', fallback: '4', about: 'Judgements of this process under way at once.' },
  {
    name: 'SPANDREL_EVALUATOR_TIMEOUT_MS',
    fallback: '1000',
    about: 'How long a run of an evaluator that needs no model may take, at most 60000.',
  },
  {
    name: 'SPANDREL_EVALUATOR_THREADS',
    fallback: '2',
    about: 'Threads for long runs of evaluators, at most 64, started when they are needed.',
  },
  {
    name: 'SPANDREL_EVALUATION_CONCURRENCY',
    fallback: '4',
    about: 'Evaluations of monitors that this process makes at once.',
  },
  {
    name: 'SPANDREL_MONITOR_SETTLE_MS',
    fallback: '500',
    about: 'How long a trace with a root span must be unchanged before monitors evaluate it, at most 30000.',
  },
  {
    name: 'SPANDREL_MONITOR_ROOTLESS_SETTLE_MS',
    fallback: '10000',
    about: 'The same of a trace whose root span is not stored yet.',
  },
  {
    name: 'SPANDREL_MONITOR_BACKLOG_MAX',
    fallback: '250000',
    about: 'Traces that may wait for monitors in a project; about that many. Monitors do not evaluate those beyond.',
  },
];
