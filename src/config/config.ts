/** Reads and validates the settings in the environment and in the files it names. All problems are reported at once. */

import type { RootSecrets } from '../domain/organization/secret-rotation.ts';
import { type AddressRange, parseRangeOrAddress } from '../domain/public-address.ts';
import { TERM_MAX_DAYS, TERM_MIN_DAYS } from '../domain/retention-terms.ts';
import type { CorsOrigins } from '../transport/rest/cors.ts';
import { readBootstrap } from './bootstrap.ts';
import { readEvaluators, readLlm } from './evaluators.ts';
import { readLimits } from './limits.ts';
import { readOtel } from './otel.ts';
import { type ConfigReader, readChoice, readHttpUrl, readInteger } from './reader.ts';
import { LOG_LEVELS } from './settings.ts';
import { readSignIn } from './sign-in.ts';
import { type Environment, readSources } from './sources.ts';
import { readAllowList, readAws, readMailServer, readWebhooks } from './webhooks.ts';

export { isSecretSetting, SETTINGS } from './settings.ts';
export { readSources, type Sources } from './sources.ts';

export type Config = Readonly<ReturnType<typeof readConfig>>;

/** Settings that are missing, misspelled or out of bounds; one line each, without values. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

const PREFIX_PATTERN = /^[a-z0-9][a-z0-9-]{0,14}-$/;
const SECRET_MIN_CHARACTERS = 32;
const DATABASE_WAIT_MAX_MS = 86_400_000;
const SETTLEMENT_GRACE_MS = { min: 1000, max: 604_800_000 };

/** Throws a ConfigError that names every problem. */
export function readConfig(environment: Environment) {
  const sources = readSources(environment);
  const problems: string[] = [...sources.problems];
  const reader: ConfigReader = {
    text: (name) => sources.values.get(name)?.text ?? null,
    refuse: (problem) => problems.push(problem),
  };
  const prefixes = readPrefixes(reader);
  const databaseUrl = readDatabaseUrl(reader);
  const publicUrl = readPublicUrl(reader);
  const config = {
    role: readRole(reader, databaseUrl),
    host: readHost(reader),
    port: readInteger(reader, 'SPANDREL_PORT', { min: 0, max: 65535 }),
    databaseUrl,
    /** Null: the database itself searches and sums up traces. */
    telemetryUrl: readTelemetryUrl(reader),
    /** Null: texts of traces stay in the database. */
    moveTexts: readMoveTexts(reader, databaseUrl),
    databaseConnectionsMax: readInteger(reader, 'SPANDREL_DATABASE_CONNECTIONS', { min: 1, max: 1000 }),
    /** How long a start waits for a database that is away. */
    databaseWaitMs: readInteger(reader, 'SPANDREL_DATABASE_WAIT_MS', { min: 0, max: DATABASE_WAIT_MAX_MS }),
    /** Whether a database is accepted that may lose acknowledged writes in a power failure. */
    databaseMayLoseWrites: readChoice(reader, 'SPANDREL_DATABASE_UNSAFE', ['on', 'off']) === 'on',
    /** Null: a file beside the database holds it. */
    secrets: readSecrets(reader),
    keyPrefixes: prefixes,
    publicUrl,
    logLevel: readChoice(reader, 'SPANDREL_LOG_LEVEL', LOG_LEVELS),
    tracing: readChoice(reader, 'SPANDREL_TRACING', ['on', 'off']) === 'on',
    /** Where spans of the server itself go; null: nowhere. */
    otel: readOtel(reader, environment),
    /** Whether /metrics is served. */
    metrics: readChoice(reader, 'SPANDREL_METRICS', ['on', 'off']) === 'on',
    /** Whether the console is served. */
    console: readChoice(reader, 'SPANDREL_CONSOLE', ['on', 'off']) === 'on',
    traceSharing: readChoice(reader, 'SPANDREL_TRACE_SHARING', ['on', 'off']) === 'on',
    signIn: readSignIn(reader, publicUrl),
    cors: readCors(reader),
    trustedProxies: readTrustedProxies(reader),
    tls: readTls(reader),
    bootstrap: readBootstrap(reader, prefixes),
    /** The retention of traces in projects without one of their own; null: for ever. */
    traceRetentionDays: readTraceRetention(reader),
    /** The retention of entries of the audit log; null: for ever. */
    auditRetentionDays: readInteger(reader, 'SPANDREL_AUDIT_RETENTION_DAYS', { min: 0, max: TERM_MAX_DAYS }) || null,
    settlementGraceMs: readInteger(reader, 'SPANDREL_SETTLEMENT_GRACE_MS', SETTLEMENT_GRACE_MS),
    gateway: {
      /** Whether requests with virtual keys are served. */
      isOn: readChoice(reader, 'SPANDREL_GATEWAY', ['on', 'off']) === 'on',
      concurrencyMax: readInteger(reader, 'SPANDREL_GATEWAY_CONCURRENCY', { min: 4, max: 100_000 }),
      /** The beginning of the secrets of virtual keys. */
      virtualKeyPrefix: readVirtualKeyPrefix(reader, prefixes),
      /** Private destinations that model providers may have. */
      allow: readAllowList(reader, 'SPANDREL_GATEWAY_ALLOW'),
    },
    webhooks: readWebhooks(reader),
    /** For the e-mails of triggers; null: there is none. */
    mailServer: readMailServer(reader),
    aws: readAws(reader),
    llm: readLlm(reader),
    evaluators: readEvaluators(reader),
    limits: readLimits(reader),
  };
  if (problems.length > 0) throw new ConfigError(problems);
  return config;
}

/** `gateway`: the process serves virtual keys alone, beside others that do the rest. */
function readRole(reader: ConfigReader, databaseUrl: string): 'all' | 'gateway' {
  if (readChoice(reader, 'SPANDREL_ROLE', ['all', 'gateway']) !== 'gateway') return 'all';
  if (databaseUrl.startsWith('sqlite:')) {
    reader.refuse(
      'SPANDREL_ROLE can be gateway only on PostgreSQL: a SQLite file has one process, which must serve everything',
    );
  }
  if (reader.text('SPANDREL_GATEWAY') === 'off') {
    reader.refuse('SPANDREL_ROLE must not be gateway with SPANDREL_GATEWAY=off, which leaves nothing to serve');
  }
  return 'gateway';
}

/** IPv6 addresses are written in brackets where a port may follow. */
function readHost(reader: ConfigReader): string {
  const host = reader.text('SPANDREL_HOST') ?? '127.0.0.1';
  return /^\[(.*)\]$/.exec(host)?.[1] ?? host;
}

function readTraceRetention(reader: ConfigReader): number | null {
  const name = 'SPANDREL_TRACE_RETENTION_DAYS';
  return reader.text(name) === null ? null : readInteger(reader, name, { min: TERM_MIN_DAYS, max: TERM_MAX_DAYS });
}

function readDatabaseUrl(reader: ConfigReader): string {
  const url = reader.text('SPANDREL_DATABASE_URL') ?? 'sqlite:./data/spandrel.db';
  if (!/^(sqlite:.+|postgres(ql)?:\/\/.+)/.test(url)) {
    reader.refuse(
      'SPANDREL_DATABASE_URL must look like sqlite:./data/spandrel.db or postgres://user:password@host:5432/database',
    );
  }
  if (!url.startsWith('sqlite:') && url.includes('#')) {
    reader.refuse('SPANDREL_DATABASE_URL must write #, ?, / and @ of a password as %23, %3F, %2F and %40');
  }
  // The variable of libpq, which the client library would read in its own way.
  const mode = reader.text('PGSSLMODE');
  if (mode === null || url.startsWith('sqlite:') || /[?&]ssl(mode)?=/.test(url)) return url;
  return `${url}${url.includes('?') ? '&' : '?'}sslmode=${encodeURIComponent(mode)}`;
}

function readTelemetryUrl(reader: ConfigReader): string | null {
  const text = reader.text('SPANDREL_TELEMETRY_URL');
  if (text === null) return null;
  const url = URL.parse(text);
  const isWhole =
    url !== null && /^clickhouses?:$/.test(url.protocol) && url.hostname !== '' && url.pathname.length > 1;
  if (!isWhole || url.search !== '' || url.hash !== '' || !isDecodable(url)) {
    reader.refuse(
      'SPANDREL_TELEMETRY_URL must look like clickhouse://user:password@host:8123/database, with % written as %25',
    );
  }
  return text;
}

const MOVE_AFTER = 'SPANDREL_TELEMETRY_MOVE_AFTER_HOURS';
const HOUR_MS = 3_600_000;

function readMoveTexts(reader: ConfigReader, databaseUrl: string): { readonly afterMs: number } | null {
  if (reader.text(MOVE_AFTER) === null) return null;
  const afterMs = HOUR_MS * readInteger(reader, MOVE_AFTER, { min: 2, max: 87_600 });
  if (databaseUrl.startsWith('sqlite:') || reader.text('SPANDREL_TELEMETRY_URL') === null) {
    reader.refuse(`${MOVE_AFTER} needs SPANDREL_TELEMETRY_URL, and a PostgreSQL in SPANDREL_DATABASE_URL`);
  }
  return { afterMs };
}

function isDecodable({ username, password, pathname }: URL): boolean {
  try {
    decodeURIComponent(`${username} ${password} ${pathname}`);
    return true;
  } catch {
    return false;
  }
}

function readSecrets(reader: ConfigReader): RootSecrets | null {
  const current = readSecret(reader, 'SPANDREL_SECRET');
  const previous = readSecret(reader, 'SPANDREL_SECRET_PREVIOUS');
  if (current !== null) return { current, previous };
  if (previous !== null) reader.refuse('SPANDREL_SECRET_PREVIOUS needs SPANDREL_SECRET, the secret that replaces it');
  return null;
}

function readSecret(reader: ConfigReader, name: 'SPANDREL_SECRET' | 'SPANDREL_SECRET_PREVIOUS'): string | null {
  const secret = reader.text(name);
  if (secret !== null && [...secret].length < SECRET_MIN_CHARACTERS) {
    reader.refuse(`${name} must have at least ${SECRET_MIN_CHARACTERS} characters`);
  }
  return secret;
}

function readPrefixes(reader: ConfigReader): readonly string[] {
  const prefixes = (reader.text('SPANDREL_KEY_PREFIX') ?? 'sk-lw-').split(',').map((prefix) => prefix.trim());
  if (!prefixes.every((prefix) => PREFIX_PATTERN.test(prefix))) {
    reader.refuse(
      'SPANDREL_KEY_PREFIX must be lower-case prefixes of 2 to 16 characters that end in a hyphen, separated by commas',
    );
  }
  return prefixes;
}

function readVirtualKeyPrefix(reader: ConfigReader, keyPrefixes: readonly string[]): string {
  const name = 'SPANDREL_VIRTUAL_KEY_PREFIX';
  const prefix = reader.text(name) ?? 'vk-lw-';
  if (!PREFIX_PATTERN.test(prefix)) {
    reader.refuse(`${name} must be a lower-case prefix of 2 to 16 characters that ends in a hyphen`);
  } else if (keyPrefixes.includes(prefix)) {
    reader.refuse(`${name} must differ from the prefixes of SPANDREL_KEY_PREFIX`);
  }
  return prefix;
}

function readPublicUrl(reader: ConfigReader): string | null {
  return readHttpUrl(reader, 'SPANDREL_PUBLIC_URL')?.replace(/\/+$/, '') ?? null;
}

function readCors(reader: ConfigReader): CorsOrigins {
  const text = reader.text('SPANDREL_CORS_ORIGINS') ?? '*';
  if (text === '*' || text === 'none') return text;
  const origins = text.split(',').map((origin) => origin.trim());
  if (!origins.every((origin) => URL.canParse(origin) && new URL(origin).origin === origin)) {
    reader.refuse(
      'SPANDREL_CORS_ORIGINS must be *, none, or exact origins such as https://app.example.com, separated by commas',
    );
  }
  return origins;
}

function readTrustedProxies(reader: ConfigReader): readonly AddressRange[] {
  const items = (reader.text('SPANDREL_TRUSTED_PROXIES') ?? '').split(',').flatMap((item) => item.trim() || []);
  const ranges = items.flatMap((item) => parseRangeOrAddress(item) ?? []);
  if (ranges.length < items.length) {
    reader.refuse('SPANDREL_TRUSTED_PROXIES must be addresses or networks such as 10.0.0.0/8, separated by commas');
  }
  return ranges;
}

function readTls(reader: ConfigReader) {
  const certPath = reader.text('SPANDREL_TLS_CERT');
  const keyPath = reader.text('SPANDREL_TLS_KEY');
  if ((certPath === null) !== (keyPath === null)) {
    reader.refuse('SPANDREL_TLS_CERT and SPANDREL_TLS_KEY must be set together');
  }
  return certPath !== null && keyPath !== null ? { certPath, keyPath } : null;
}
