/**
 * The port of the log: requests and what they cost, events, and the work that follows from them. Rules as for the port of
 * management; a driver of both keeps them in one database.
 */

import type { BudgetLedger } from '../budgets/budget-store.ts';
import type { DeliveryStore, WebhookLog } from '../delivery/webhook-store.ts';
import type { EvaluationJobStore } from '../evaluations/jobs.ts';
import type { Admission, Admitted } from '../gateway/admission.ts';
import type { AnswerCacheStore } from '../gateway/answer-cache.ts';
import type { GatewayOutcome } from '../gateway/gateway-outcome.ts';
import type { BudgetLeaseStore } from '../gateway/lease-store.ts';
import type { RateSliceStore } from '../gateway/rate-limits.ts';
import type { PortRetention } from '../retention-walk.ts';
import type { SpendStore } from '../spend/spend-store.ts';
import type { EventRange, StoredEvent } from './event.ts';
import type {
  GovernanceReport,
  GovernanceResult,
  RequestRenewal,
  RequestReport,
  RequestsReported,
  Settled,
  Settlement,
} from './request-report.ts';

export type Log = {
  readonly requests: RequestStore;
  readonly events: EventStore;
  readonly spend: SpendStore;
  readonly budgets: BudgetLedger;
  readonly deliveries: DeliveryStore;
  readonly webhookLog: WebhookLog;
  readonly evaluationJobs: EvaluationJobStore;
  readonly leases: BudgetLeaseStore & RateSliceStore;
  readonly answers: AnswerCacheStore;
  readonly logRetention: PortRetention<LogCuts>;
};

export type LogCuts = {
  /**
   * The first instant of a month: events created earlier are removed, with requests without any event left, and what was
   * spent.
   */
  readonly eventsBeforeMs: number;
  /** Answers that the gateway has kept are removed if they expired before the instant. */
  readonly answersBeforeMs: number;
};

export type RequestStore = {
  /**
   * Commits the admission of a request by our own gateway. It MUST resolve only after the commit is durable, MUST take the
   * request's amounts out of the stored leases in the same transaction, and MUST store nothing where a lease is not the
   * process's own any more or holds less. An admission that is sent again MUST change nothing.
   */
  admit(admission: Admission): Promise<Admitted>;
  /**
   * Commits one report. It MUST resolve only after the commit is durable, MUST store all of it or nothing, MUST move
   * each request from state to state as request-state.ts says, also while others report it, and MUST complete an
   * outcome with missing fields from the admission of its request. In the same transaction an outcome MUST take what its
   * admission has reserved out of the leased amounts, and add its cost to what is spent. Results have the order of the records.
   */
  report(report: RequestReport): Promise<RequestsReported>;
  /**
   * Commits the outcome of a request by our own gateway, as `report` does, with its span as the port of traces would store
   * it, in one transaction.
   */
  conclude(outcome: GatewayOutcome): Promise<RequestsReported>;
  /**
   * Commits one report, in the same order as all other events of the organization. MUST emit every id once, and MUST
   * keep the events out of the log. Results have the order of the events.
   */
  reportGovernance(report: GovernanceReport): Promise<readonly GovernanceResult[]>;
  /**
   * Settles overdue requests in one commit. MUST settle a request once, and never one that has its outcome. What it has
   * reserved MUST count as spent, until an outcome replaces it.
   */
  settle(settlement: Settlement): Promise<Settled>;
  /**
   * Gives requests that wait for their outcomes the whole grace period again, and returns which of them still wait. A
   * request that was renewed MUST NOT be settled before that period is over.
   */
  renew(renewal: RequestRenewal): Promise<readonly boolean[]>;
  /** When the oldest request without an outcome was received; null when there is none. For metrics. */
  oldestAdmittedAtMs(): Promise<number | null>;
};

export type EventStore = {
  /**
   * Newest first by (created, id), ids by bytes. MUST return each event that existed when a traversal began exactly
   * once, whatever is appended meanwhile.
   */
  list(range: EventRange): Promise<readonly StoredEvent[]>;
  /** MUST return the appended bytes. Null when the organization has no such event created at or after `sinceMs`. */
  find(organization: { id: string; number: number }, eventId: string, sinceMs: number): Promise<StoredEvent | null>;
};
