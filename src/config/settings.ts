/** The table of settings: what each is called, what holds when it is unset, and what it does. */

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];

/** Those whose values nobody may see; `<name>_FILE` names a file that holds the value. */
const SECRETS: ReadonlySet<string> = new Set([
  'SPANDREL_SECRET',
  'SPANDREL_SECRET_PREVIOUS',
  'SPANDREL_DATABASE_URL',
  'SPANDREL_TELEMETRY_URL',
  'SPANDREL_BOOTSTRAP_PROJECT_KEY',
  'SPANDREL_BOOTSTRAP_ADMIN_KEY',
  'SPANDREL_LLM_API_KEY',
  'SPANDREL_SMTP_URL',
  'SPANDREL_OIDC_CLIENT_SECRET',
  // Read by the commands that ask a running server.
  'SPANDREL_ADMIN_KEY',
]);

export function isSecretSetting(name: string): boolean {
  return SECRETS.has(name);
}

const ROWS: { readonly [name: string]: readonly [fallback: string, about: string] } = {
  SPANDREL_CONFIG: ['', 'File of settings, one NAME=value a line; what the environment sets comes first.'],
  SPANDREL_HOST: ['127.0.0.1', 'Address to listen on; 0.0.0.0 opens it to the network.'],
  SPANDREL_PORT: ['5560', 'Port for every protocol; 0 picks a free one, which the ready line prints.'],
  SPANDREL_DATABASE_URL: [
    'sqlite:./data/spandrel.db',
    'Where data lives: sqlite: and a path, or postgres://user:password@host:port/database.',
  ],
  SPANDREL_DATABASE_CONNECTIONS: [
    '10',
    'PostgreSQL connections of this process for reading; thirteen more are for listening, writing, authentication, deliveries and the background.',
  ],
  SPANDREL_DATABASE_WAIT_MS: ['0', 'How long a start waits for a PostgreSQL that is away, at most 86400000.'],
  SPANDREL_TELEMETRY_URL: [
    '',
    'ClickHouse that searches and sums up traces: clickhouse://user:password@host:8123/database, or clickhouses:// over TLS; the same for all processes.',
  ],
  SPANDREL_TELEMETRY_MOVE_AFTER_HOURS: [
    '',
    'Moves long texts of traces that have not changed for so many hours, 2 to 87600, from PostgreSQL to ClickHouse; the same for all processes.',
  ],
  SPANDREL_DATABASE_UNSAFE: ['off', 'on accepts a PostgreSQL that may lose what it has acknowledged.'],
  SPANDREL_SECRET: [
    '<data folder>/secret',
    'Root of every derived key, at least 32 characters; written once beside a SQLite file when unset.',
  ],
  SPANDREL_SECRET_PREVIOUS: [
    '',
    'The secret used until now, beside a new SPANDREL_SECRET, until spandrel rotate-secret is done.',
  ],
  SPANDREL_PUBLIC_URL: ['the listening address', 'Base of the links in responses.'],
  SPANDREL_LOG_LEVEL: [
    'info',
    `One of ${LOG_LEVELS.join(', ')}; refused requests are logged at info, all others at debug.`,
  ],
  SPANDREL_TRACING: ['on', 'on or off: trace ids in headers and error bodies.'],
  SPANDREL_OTEL: [
    'off',
    'on sends spans of the server itself to a collector of OpenTelemetry, as the variables OTEL_* say.',
  ],
  SPANDREL_METRICS: ['on', 'on or off: the page /metrics, which needs no key.'],
  SPANDREL_CONSOLE: ['on', 'on or off: the console for people, at /.'],
  SPANDREL_TRACE_SHARING: [
    'on',
    'on or off: links by which anyone reads a trace, made by those with the permission traces:share. Off also closes those that exist.',
  ],
  SPANDREL_KEY_SIGN_IN: [
    'on',
    'off lets nobody sign in to the console with a key, and ends sessions that keys began; programs still use keys.',
  ],
  SPANDREL_OIDC_ISSUER: ['', 'Issuer of OpenID Connect through which people sign in; needs SPANDREL_PUBLIC_URL.'],
  SPANDREL_OIDC_CLIENT_ID: ['', 'Client that this server is to the issuer.'],
  SPANDREL_OIDC_CLIENT_SECRET: ['', 'Secret of that client.'],
  SPANDREL_OIDC_SCOPES: ['openid email profile', 'Scopes that are asked for, separated by spaces.'],
  SPANDREL_OIDC_ALLOWED_DOMAINS: [
    '',
    'Domains of e-mail addresses, separated by commas, whose people become members when they first sign in.',
  ],
  SPANDREL_OIDC_ROLE_CLAIM: ['', 'Claim of the token with the groups or roles of a person.'],
  SPANDREL_OIDC_ROLE_MAP: ['', 'Roles of its values, such as admins=ADMIN,staff=MEMBER, given at each sign-in.'],
  SPANDREL_OIDC_DEFAULT_ROLE: ['EXTERNAL', 'Role of new members, and of those without a value in the map.'],
  SPANDREL_OIDC_TRUST_EMAIL: [
    'false',
    'true believes addresses of the allowed domains that the issuer does not say it has verified.',
  ],
  SPANDREL_CORS_ORIGINS: ['*', '*, none, or exact origins separated by commas.'],
  SPANDREL_TRUSTED_PROXIES: [
    '',
    'Addresses or networks of reverse proxies, separated by commas, whose X-Forwarded-For names the caller, and whose X-Forwarded-Proto says whether it came over TLS.',
  ],
  SPANDREL_TLS_CERT: ['', 'PEM file, read again when it changes; with SPANDREL_TLS_KEY the port speaks TLS only.'],
  SPANDREL_TLS_KEY: ['', 'PEM file of the private key, read again when it changes.'],
  SPANDREL_KEY_PREFIX: ['sk-lw-', 'Token prefixes separated by commas: the first mints, all are accepted.'],
  SPANDREL_BOOTSTRAP_PROJECT_KEY: ['minted', 'Imposes the first project key.'],
  SPANDREL_BOOTSTRAP_ADMIN_KEY: ['minted', 'Imposes the first admin key.'],
  SPANDREL_BOOTSTRAP_ORGANIZATION_ID: ['minted', 'Imposes the id of the first organization.'],
  SPANDREL_BOOTSTRAP_PROJECT_ID: ['minted', 'Imposes the id of the first project.'],
  SPANDREL_BOOTSTRAP_ORGANIZATION: ['Default organization', 'Name of the first organization.'],
  SPANDREL_BOOTSTRAP_TEAM: ['Default team', 'Name of the first team.'],
  SPANDREL_BOOTSTRAP_PROJECT: ['Default project', 'Name of the first project.'],
  SPANDREL_BOOTSTRAP_ADMIN_EMAIL: ['admin@localhost', 'E-mail of the first administrator.'],
  SPANDREL_MAX_BODY_BYTES: ['10485760', 'Largest collector body, on the wire and decompressed.'],
  SPANDREL_MAX_SPANS_PER_REQUEST: ['10000', 'Spans in one collector request.'],
  SPANDREL_MAX_SPANS_PER_TRACE: [
    '100000',
    'Spans of one trace; more are refused one by one, and those it has can still be replaced.',
  ],
  SPANDREL_MAX_EVALUATIONS_PER_REQUEST: ['2000', 'Evaluations in one collector request.'],
  SPANDREL_MAX_STRING_BYTES: ['1048576', 'Longer strings are cut and marked.'],
  SPANDREL_MAX_JSON_DEPTH: ['64', 'Nesting of one free JSON value.'],
  SPANDREL_MAX_FUTURE_MS: ['86400000', 'How far ahead of this clock a timestamp may be.'],
  SPANDREL_INGEST_QUEUE_BYTES: [
    '67108864',
    'Bytes of bodies, from the first one that arrives to the commit, before new ones are refused; a caller has a quarter.',
  ],
  SPANDREL_ANSWER_BYTES: [
    '67108864',
    'Bytes of responses that clients have not read yet before new ones are refused; a caller has a quarter.',
  ],
  SPANDREL_MAX_INFLIGHT: ['1024', 'Requests in progress before new ones are refused; a caller has a quarter.'],
  SPANDREL_MAX_ARRIVING: [
    '1024',
    'Requests whose bodies are on their way before new ones are refused; a caller has a quarter.',
  ],
  SPANDREL_MAX_TEAMS: ['1000', 'Teams of one organization.'],
  SPANDREL_MAX_PROJECTS: ['1000', 'Projects of one organization that are not archived.'],
  SPANDREL_MAX_MEMBERS: ['5000', 'Members of one organization, disabled ones included.'],
  SPANDREL_MAX_ROLE_BINDINGS: ['20000', 'Role bindings of all members of one organization.'],
  SPANDREL_MAX_CONNECTIONS: ['10000', 'Open connections before new ones are closed.'],
  SPANDREL_MAX_TAILS: ['4000', 'Live tails of traces open at once on this process.'],
  SPANDREL_MAX_TAILS_PER_PROJECT: ['1000', 'Live tails of one project at once.'],
  SPANDREL_MAX_TAILS_PER_CREDENTIAL: ['1000', 'Live tails of one key at once.'],
  SPANDREL_RECONNECT_PENALTY_MS: [
    '1000',
    'How long an address may not connect after an HTTP/2 session of it was cut for abuse; doubles up to 60000. 0 behind a proxy that all clients share.',
  ],
  SPANDREL_TRACE_RETENTION_DAYS: [
    'for ever',
    'Days until traces are deleted, 1 to 3650, in projects that did not choose for themselves.',
  ],
  SPANDREL_AUDIT_RETENTION_DAYS: [
    '0',
    'Days until entries of the audit log are deleted, at most 3650; 0 keeps them for ever.',
  ],
  SPANDREL_SETTLEMENT_GRACE_MS: [
    '1800000',
    'How long the outcome of an admitted request is waited for before it settles.',
  ],
  SPANDREL_WEBHOOK_ALLOW: [
    '',
    'Private destinations that webhooks may go to: hosts, addresses or networks, with a port or without, separated by commas.',
  ],
  SPANDREL_SMTP_URL: [
    '',
    'Mail server for the e-mails of triggers: smtp://user:password@host:587, or smtps://. A private one must be in SPANDREL_WEBHOOK_ALLOW.',
  ],
  SPANDREL_SMTP_FROM: ['', 'Address that these e-mails come from; needed with SPANDREL_SMTP_URL.'],
  SPANDREL_VIRTUAL_KEY_PREFIX: ['vk-lw-', 'Beginning of the secrets of virtual keys.'],
  SPANDREL_GATEWAY_ALLOW: [
    '',
    'Private destinations that model providers may have: hosts, addresses or networks, with a port or without, separated by commas.',
  ],
  SPANDREL_ROLE: [
    'all',
    'all, or gateway: a process on PostgreSQL that serves requests with virtual keys, health and metrics, and nothing else.',
  ],
  SPANDREL_GATEWAY: ['on', 'off serves no requests with virtual keys.'],
  SPANDREL_GATEWAY_CONCURRENCY: [
    '1024',
    'Requests with virtual keys of this process under way at once; one key has a quarter of them.',
  ],
  SPANDREL_WEBHOOK_CONCURRENCY: ['2048', 'Webhook attempts of this process under way at once, at most 16384.'],
  SPANDREL_WEBHOOK_MAX_PER_HOUR: [
    'no limit',
    'Webhook attempts of one organization within an hour; the others wait for the next.',
  ],
  SPANDREL_WEBHOOK_MAX_ENDPOINTS: ['5000', 'Webhook endpoints of one organization, at most 100000.'],
  SPANDREL_ALLOW_AMBIENT_AWS: ['', '1 lets webhooks to SQS use the AWS credentials of this server.'],
  SPANDREL_DRAIN_MS: ['10000', 'How long a stop waits for requests in progress; at most an hour.'],
  SPANDREL_LLM_BASE_URL: [
    '',
    'OpenAI-compatible endpoint, such as https://api.openai.com/v1, that evaluators ask; without it they are skipped.',
  ],
  SPANDREL_LLM_API_KEY: ['', 'Sent to that endpoint as a bearer token.'],
  SPANDREL_LLM_MODEL: ['gpt-5-mini', 'The model that evaluators ask unless they name one.'],
  SPANDREL_LLM_TIMEOUT_MS: ['30000', 'How long one attempt at a judgement may take, at most 300000.'],
  SPANDREL_LLM_CONCURRENCY: ['4', 'Judgements of this process under way at once.'],
  SPANDREL_LLM_MODELS: [
    'all',
    'Models, separated by commas, that evaluators may ask beside SPANDREL_LLM_MODEL; others are refused.',
  ],
  SPANDREL_LLM_MAX_TOKENS: ['16384', 'Most tokens of one answer of a model; evaluators that ask for more get this.'],
  SPANDREL_LLM_MAX_REQUEST_BYTES: [
    '262144',
    'Largest request to a model, with prompt, data and schema, at most 16777216; larger ones are refused.',
  ],
  SPANDREL_LLM_BUDGET_USD: [
    'no limit',
    'What the judgements of one project may cost on one day (UTC), by the price list of the server.',
  ],
  SPANDREL_LLM_UNPRICED: [
    'refuse',
    'refuse or allow: models without a price while there is a budget, of which they take nothing.',
  ],
  SPANDREL_EVALUATOR_TIMEOUT_MS: [
    '1000',
    'How long a run of an evaluator that needs no model may take, at most 60000.',
  ],
  SPANDREL_EVALUATOR_THREADS: [
    '4',
    'Threads for long runs of evaluators, at most 64, started when they are needed; an organization gets all but one, a project all but one of these.',
  ],
  SPANDREL_EVALUATION_CONCURRENCY: ['4', 'Evaluations of monitors that this process makes at once.'],
  SPANDREL_MONITOR_SETTLE_MS: [
    '500',
    'How long a trace with a root span must be unchanged before monitors evaluate it, at most 30000.',
  ],
  SPANDREL_MONITOR_ROOTLESS_SETTLE_MS: ['10000', 'The same of a trace whose root span is not stored yet.'],
  SPANDREL_MONITOR_BACKLOG_MAX: [
    '250000',
    'Traces that may wait for monitors in a project; about that many. Monitors do not evaluate those beyond.',
  ],
};

/** `--help` and the README are printed from it. */
export const SETTINGS = Object.entries(ROWS).map(([name, [fallback, about]]) => ({ name, fallback, about }));
