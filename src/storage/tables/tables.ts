/** Every table of each store. */

import { AuthGeneration } from './auth-generation.ts';
import { EvaluationRow } from './evaluations.ts';
import { EventOnPostgres, EventOnSqlite } from './events.ts';
import { EventByTime } from './events-by-time.ts';
import { GovernanceEvent } from './governance-events.ts';
import { MANAGED_TABLES } from './managed.ts';
import { RequestKey } from './request-keys.ts';
import { RequestOnPostgres, RequestOnSqlite } from './requests.ts';
import { SpanRow } from './spans.ts';
import { TraceOnPostgres, TraceOnSqlite } from './traces.ts';
import { WebhookAttempt } from './webhook-attempts.ts';
import { WebhookFigure } from './webhook-figures.ts';
import { WebhookHour } from './webhook-hours.ts';
import { WriteProbe } from './write-probe.ts';

const SHARED = [
  ...MANAGED_TABLES,
  WriteProbe,
  SpanRow,
  EvaluationRow,
  GovernanceEvent,
  WebhookAttempt,
  WebhookFigure,
  WebhookHour,
] as const;

export const SQLITE_TABLES = [...SHARED, TraceOnSqlite, RequestOnSqlite, EventOnSqlite, EventByTime] as const;

export const POSTGRES_TABLES = [
  ...SHARED,
  TraceOnPostgres,
  RequestOnPostgres,
  RequestKey,
  EventOnPostgres,
  AuthGeneration,
] as const;
