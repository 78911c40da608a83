/** Every setting: its name, default, bound and why. All problems are reported at once. */

import type { BootstrapWishes } from './domain/bootstrap.ts';
import { TERM_MAX_DAYS, TERM_MIN_DAYS } from './domain/trace-retention.ts';
import { type AllowEntry, parseAllowList } from './domain/url-allow-list.ts';
import { LOG_LEVELS, SETTINGS } from './settings.ts';
import type { CorsOrigins } from './transport/rest/cors.ts';

export { SETTINGS, type Setting } from './settings.ts';

export type Config = {
  readonly host: string;
  readonly port: number;
  readonly databaseUrl: string;
  readonly databaseConnectionsMax: number;
  /** A database that loses acknowledged writes with its power is accepted. */
  readonly databaseMayForget: boolean;
  readonly secret: string | null;
  readonly keyPrefixes: readonly string[];
  readonly publicUrl: string | null;
  readonly logLevel: string;
  readonly tracing: boolean;
  /** Whether they are told at all. */
  readonly metrics: boolean;
  readonly cors: CorsOrigins;
  readonly tls: { readonly certPath: string; readonly keyPath: string } | null;
  readonly bootstrap: BootstrapWishes;
  /** The term of traces in projects that never chose; null: for ever. */
  readonly traceRetentionDays: number | null;
  /** The term of entries of the audit log; null: for ever. */
  readonly auditRetentionDays: number | null;
  readonly settlementGraceMs: number;
  readonly webhooks: WebhookSettings;
  readonly aws: AwsSettings;
  readonly limits: Limits;
};

export type WebhookSettings = {
  /** What may be reached although it is not public. */
  readonly allow: readonly AllowEntry[];
  /** Attempts of this process at once. */
  readonly concurrencyMax: number;
  /** Of one organization within a clock hour; null: as many as it takes. */
  readonly attemptsPerHourMax: number | null;
  /** Of one organization. */
  readonly endpointsMax: number;
};

/** The queues that webhooks are sent to. */
export type AwsSettings = {
  /** Whether the credentials of this process may be used. */
  readonly isAmbientAllowed: boolean;
  /** The operator's own services; null: Amazon's. */
  readonly sqsEndpoint: string | null;
  readonly stsEndpoint: string | null;
  /** Of the operator's own services. */
  readonly region: string;
};

export type Limits = {
  readonly bodyMaxBytes: number;
  readonly spansPerRequestMax: number;
  readonly evaluationsPerRequestMax: number;
  readonly stringMaxBytes: number;
  readonly jsonDepthMax: number;
  readonly futureMaxMs: number;
  readonly ingestQueueMaxBytes: number;
  readonly inFlightMax: number;
  readonly connectionsMax: number;
  readonly drainMs: number;
};

/** A setting that is missing, misspelled or out of bounds; one line each, without any value. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

type Environment = { readonly [name: string]: string | undefined };
type Reader = { readonly text: (name: string) => string | null; readonly refuse: (problem: string) => void };

const ID_PATTERN = /^[A-Za-z0-9_-]{1,64}$/;
const PREFIX_PATTERN = /^[a-z0-9][a-z0-9-]{0,14}-$/;
const SECRET_MIN_CHARACTERS = 32;
const SETTLEMENT_GRACE_MS = { min: 1000, max: 604_800_000 };

/** Reads the environment. Throws a ConfigError that names every problem. */
export function readConfig(environment: Environment): Config {
  const problems: string[] = [];
  const reader: Reader = {
    text: (name) => environment[name] || null,
    refuse: (problem) => problems.push(problem),
  };
  const prefixes = readPrefixes(reader);
  const config: Config = {
    host: reader.text('SPANDREL_HOST') ?? '127.0.0.1',
    port: readInteger(reader, 'SPANDREL_PORT', { min: 0, max: 65535 }),
    databaseUrl: readDatabaseUrl(reader),
    databaseConnectionsMax: readInteger(reader, 'SPANDREL_DATABASE_CONNECTIONS', { min: 1, max: 1000 }),
    databaseMayForget: readChoice(reader, 'SPANDREL_DATABASE_UNSAFE', ['on', 'off']) === 'on',
    secret: readSecret(reader),
    keyPrefixes: prefixes,
    publicUrl: readPublicUrl(reader),
    logLevel: readChoice(reader, 'SPANDREL_LOG_LEVEL', LOG_LEVELS),
    tracing: readChoice(reader, 'SPANDREL_TRACING', ['on', 'off']) === 'on',
    metrics: readChoice(reader, 'SPANDREL_METRICS', ['on', 'off']) === 'on',
    cors: readCors(reader),
    tls: readTls(reader),
    bootstrap: readBootstrap(reader, prefixes),
    traceRetentionDays: readTraceRetention(reader),
    auditRetentionDays: readInteger(reader, 'SPANDREL_AUDIT_RETENTION_DAYS', { min: 0, max: TERM_MAX_DAYS }) || null,
    settlementGraceMs: readInteger(reader, 'SPANDREL_SETTLEMENT_GRACE_MS', SETTLEMENT_GRACE_MS),
    webhooks: readWebhooks(reader),
    aws: readAws(reader),
    limits: readLimits(reader),
  };
  if (problems.length > 0) throw new ConfigError(problems);
  return config;
}

function readLimits(reader: Reader): Limits {
  const positive = (name: string) => readInteger(reader, name, { min: 1, max: Number.MAX_SAFE_INTEGER });
  return {
    bodyMaxBytes: positive('SPANDREL_MAX_BODY_BYTES'),
    spansPerRequestMax: positive('SPANDREL_MAX_SPANS_PER_REQUEST'),
    evaluationsPerRequestMax: positive('SPANDREL_MAX_EVALUATIONS_PER_REQUEST'),
    stringMaxBytes: positive('SPANDREL_MAX_STRING_BYTES'),
    jsonDepthMax: positive('SPANDREL_MAX_JSON_DEPTH'),
    futureMaxMs: positive('SPANDREL_MAX_FUTURE_MS'),
    ingestQueueMaxBytes: positive('SPANDREL_INGEST_QUEUE_BYTES'),
    inFlightMax: positive('SPANDREL_MAX_INFLIGHT'),
    connectionsMax: positive('SPANDREL_MAX_CONNECTIONS'),
    drainMs: positive('SPANDREL_DRAIN_MS'),
  };
}

function readWebhooks(reader: Reader): WebhookSettings {
  const perHour = 'SPANDREL_WEBHOOK_MAX_PER_HOUR';
  return {
    allow: readAllowList(reader),
    concurrencyMax: readInteger(reader, 'SPANDREL_WEBHOOK_CONCURRENCY', { min: 1, max: 16_384 }),
    attemptsPerHourMax:
      reader.text(perHour) === null ? null : readInteger(reader, perHour, { min: 1, max: 1_000_000_000 }),
    endpointsMax: readInteger(reader, 'SPANDREL_WEBHOOK_MAX_ENDPOINTS', { min: 1, max: 100_000 }),
  };
}

function readAllowList(reader: Reader): WebhookSettings['allow'] {
  const name = 'SPANDREL_WEBHOOK_ALLOW';
  const reading = parseAllowList(reader.text(name) ?? '');
  if (reading.kind === 'entries') return reading.entries;
  reader.refuse(`${name} ${reading.problem}`);
  return [];
}

/** The last four are what every tool for AWS reads. */
function readAws(reader: Reader): AwsSettings {
  return {
    isAmbientAllowed: reader.text('SPANDREL_ALLOW_AMBIENT_AWS') === '1',
    sqsEndpoint: readServiceUrl(reader, 'AWS_ENDPOINT_URL_SQS'),
    stsEndpoint: readServiceUrl(reader, 'AWS_ENDPOINT_URL_STS'),
    region: reader.text('AWS_REGION') ?? reader.text('AWS_DEFAULT_REGION') ?? 'us-east-1',
  };
}

function readServiceUrl(reader: Reader, name: string): string | null {
  const text = reader.text(name);
  if (text === null) return null;
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  reader.refuse(`${name} must be an http or https URL`);
  return null;
}

function readInteger(reader: Reader, name: string, bounds: { min: number; max: number }): number {
  const fallback = Number(SETTINGS.find((setting) => setting.name === name)?.fallback);
  const text = reader.text(name);
  if (text === null) return fallback;
  const value = Number(text);
  if (/^[0-9]{1,16}$/.test(text) && value >= bounds.min && value <= bounds.max) return value;
  reader.refuse(`${name} must be a whole number from ${bounds.min} to ${bounds.max}`);
  return fallback;
}

function readTraceRetention(reader: Reader): number | null {
  const name = 'SPANDREL_TRACE_RETENTION_DAYS';
  return reader.text(name) === null ? null : readInteger(reader, name, { min: TERM_MIN_DAYS, max: TERM_MAX_DAYS });
}

function readChoice(reader: Reader, name: string, choices: readonly string[]): string {
  const fallback = SETTINGS.find((setting) => setting.name === name)?.fallback ?? '';
  const text = reader.text(name) ?? fallback;
  if (!choices.includes(text)) reader.refuse(`${name} must be one of ${choices.join(', ')}`);
  return text;
}

function readDatabaseUrl(reader: Reader): string {
  const url = reader.text('SPANDREL_DATABASE_URL') ?? 'sqlite:./data/spandrel.db';
  if (!/^(sqlite:.+|postgres(ql)?:\/\/.+)/.test(url)) {
    reader.refuse(
      'SPANDREL_DATABASE_URL must look like sqlite:./data/spandrel.db or postgres://user:password@host:5432/database',
    );
  }
  return url;
}

function readSecret(reader: Reader): string | null {
  const secret = reader.text('SPANDREL_SECRET');
  if (secret !== null && [...secret].length < SECRET_MIN_CHARACTERS) {
    reader.refuse(`SPANDREL_SECRET must have at least ${SECRET_MIN_CHARACTERS} characters`);
  }
  return secret;
}

function readPrefixes(reader: Reader): readonly string[] {
  const prefixes = (reader.text('SPANDREL_KEY_PREFIX') ?? 'sk-lw-').split(',').map((prefix) => prefix.trim());
  if (!prefixes.every((prefix) => PREFIX_PATTERN.test(prefix))) {
    reader.refuse(
      'SPANDREL_KEY_PREFIX must be lower-case prefixes of 2 to 16 characters that end in a hyphen, separated by commas',
    );
  }
  return prefixes;
}

function readPublicUrl(reader: Reader): string | null {
  const text = reader.text('SPANDREL_PUBLIC_URL');
  if (text === null) return null;
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text.replace(/\/+$/, '');
  reader.refuse('SPANDREL_PUBLIC_URL must be an http or https URL');
  return null;
}

function readCors(reader: Reader): CorsOrigins {
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

function readTls(reader: Reader): Config['tls'] {
  const certPath = reader.text('SPANDREL_TLS_CERT');
  const keyPath = reader.text('SPANDREL_TLS_KEY');
  if ((certPath === null) !== (keyPath === null)) {
    reader.refuse('SPANDREL_TLS_CERT and SPANDREL_TLS_KEY must be set together');
  }
  return certPath !== null && keyPath !== null ? { certPath, keyPath } : null;
}

function readBootstrap(reader: Reader, prefixes: readonly string[]): BootstrapWishes {
  const shape = (name: string, pattern: RegExp, what: string) => {
    const text = reader.text(name);
    if (text !== null && !pattern.test(text)) reader.refuse(`${name} must be ${what}`);
    return text;
  };
  const prefix = `(?:${prefixes.join('|')})`;
  return {
    projectKey: shape(
      'SPANDREL_BOOTSTRAP_PROJECT_KEY',
      new RegExp(`^${prefix}[0-9A-Za-z]{48}$`),
      'a prefix and 48 letters or digits',
    ),
    adminKey: shape(
      'SPANDREL_BOOTSTRAP_ADMIN_KEY',
      new RegExp(`^${prefix}[0-9A-Za-z]{16}_[0-9A-Za-z]{48}$`),
      'a prefix, 16 letters or digits, an underscore and 48 letters or digits',
    ),
    organizationId: shape(
      'SPANDREL_BOOTSTRAP_ORGANIZATION_ID',
      ID_PATTERN,
      '1 to 64 letters, digits, hyphens or underscores',
    ),
    projectId: shape('SPANDREL_BOOTSTRAP_PROJECT_ID', ID_PATTERN, '1 to 64 letters, digits, hyphens or underscores'),
    organizationName: readName(reader, 'SPANDREL_BOOTSTRAP_ORGANIZATION', 'Default organization'),
    teamName: readName(reader, 'SPANDREL_BOOTSTRAP_TEAM', 'Default team'),
    projectName: readName(reader, 'SPANDREL_BOOTSTRAP_PROJECT', 'Default project'),
    adminEmail: (
      shape('SPANDREL_BOOTSTRAP_ADMIN_EMAIL', /^[^@\s]{1,200}@[^@\s]{1,119}$/, 'an e-mail address') ?? 'admin@localhost'
    ).toLowerCase(),
  };
}

function readName(reader: Reader, name: string, fallback: string): string {
  const text = reader.text(name) ?? fallback;
  if ([...text].length > 255 || text.trim() === '') reader.refuse(`${name} must have 1 to 255 characters`);
  return text;
}
