/** The tables that the entity manager serves: the same in both stores. */

import { ApiKeyBinding } from './api-key-bindings.ts';
import { ApiKey } from './api-keys.ts';
import { AuditEntry } from './audit-log.ts';
import { EvaluatorRow } from './evaluators.ts';
import { IdempotencyReceipt } from './idempotency-receipts.ts';
import { Installation } from './installation.ts';
import { LogHead } from './log-heads.ts';
import { Member } from './members.ts';
import { Organization } from './organizations.ts';
import { Project } from './projects.ts';
import { RoleBinding } from './role-bindings.ts';
import { Team } from './teams.ts';
import { WebhookChangeCount } from './webhook-changes.ts';
import { WebhookDelivery } from './webhook-deliveries.ts';
import { WebhookEndpoint } from './webhook-endpoints.ts';
import { WebhookReplay } from './webhook-replays.ts';
import { WebhookState } from './webhook-states.ts';

export const MANAGED_TABLES = [
  Installation,
  Organization,
  Team,
  Project,
  Member,
  RoleBinding,
  AuditEntry,
  ApiKey,
  ApiKeyBinding,
  EvaluatorRow,
  IdempotencyReceipt,
  LogHead,
  WebhookEndpoint,
  WebhookState,
  WebhookChangeCount,
  WebhookReplay,
  WebhookDelivery,
] as const;
