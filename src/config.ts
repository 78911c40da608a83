/** What the environment says, checked. All problems are reported at once. */

import { readBootstrap } from './config-bootstrap.ts';
import { type EvaluatorSettings, readEvaluators } from './config-evaluators.ts';
import { type Limits, readLimits } from './config-limits.ts';
import { type LlmSettings, readLlm } from './config-llm.ts';
import { isAboutService, nameProblems } from './config-names.ts';
import { type ConfigReader, readChoice, readHttpUrl, readInteger } from './config-reader.ts';
import { type AwsSettings, readAws, readWebhooks, type WebhookSettings } from './config-webhooks.ts';
import type { BootstrapWishes } from './domain/bootstrap.ts';
import { type AddressRange, parseRangeOrAddress } from './domain/public-address.ts';
import { TERM_MAX_DAYS, TERM_MIN_DAYS } from './domain/trace-retention.ts';
import { LOG_LEVELS } from './settings.ts';
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
  /** Whether the console is served. */
  readonly console: boolean;
  readonly cors: CorsOrigins;
  readonly trustedProxies: readonly AddressRange[];
  readonly tls: { readonly certPath: string; readonly keyPath: string } | null;
  readonly bootstrap: BootstrapWishes;
  /** The term of traces in projects that never chose; null: for ever. */
  readonly traceRetentionDays: number | null;
  /** The term of entries of the audit log; null: for ever. */
  readonly auditRetentionDays: number | null;
  readonly settlementGraceMs: number;
  readonly webhooks: WebhookSettings;
  readonly aws: AwsSettings;
  readonly llm: LlmSettings;
  readonly evaluators: EvaluatorSettings;
  readonly limits: Limits;
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

const PREFIX_PATTERN = /^[a-z0-9][a-z0-9-]{0,14}-$/;
const SECRET_MIN_CHARACTERS = 32;
const SETTLEMENT_GRACE_MS = { min: 1000, max: 604_800_000 };

/** Reads the environment. Throws a ConfigError that names every problem. */
export function readConfig(environment: Environment): Config {
  const problems: string[] = [...nameProblems(environment)];
  const reader: ConfigReader = {
    text(name) {
      const value = environment[name] || null;
      return value === null || isAboutService(name, value) ? null : value;
    },
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
    console: readChoice(reader, 'SPANDREL_CONSOLE', ['on', 'off']) === 'on',
    cors: readCors(reader),
    trustedProxies: readTrustedProxies(reader),
    tls: readTls(reader),
    bootstrap: readBootstrap(reader, prefixes),
    traceRetentionDays: readTraceRetention(reader),
    auditRetentionDays: readInteger(reader, 'SPANDREL_AUDIT_RETENTION_DAYS', { min: 0, max: TERM_MAX_DAYS }) || null,
    settlementGraceMs: readInteger(reader, 'SPANDREL_SETTLEMENT_GRACE_MS', SETTLEMENT_GRACE_MS),
    webhooks: readWebhooks(reader),
    aws: readAws(reader),
    llm: readLlm(reader),
    evaluators: readEvaluators(reader),
    limits: readLimits(reader),
  };
  if (problems.length > 0) throw new ConfigError(problems);
  return config;
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
  return url;
}

function readSecret(reader: ConfigReader): string | null {
  const secret = reader.text('SPANDREL_SECRET');
  if (secret !== null && [...secret].length < SECRET_MIN_CHARACTERS) {
    reader.refuse(`SPANDREL_SECRET must have at least ${SECRET_MIN_CHARACTERS} characters`);
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

function readTls(reader: ConfigReader): Config['tls'] {
  const certPath = reader.text('SPANDREL_TLS_CERT');
  const keyPath = reader.text('SPANDREL_TLS_KEY');
  if ((certPath === null) !== (keyPath === null)) {
    reader.refuse('SPANDREL_TLS_CERT and SPANDREL_TLS_KEY must be set together');
  }
  return certPath !== null && keyPath !== null ? { certPath, keyPath } : null;
}
