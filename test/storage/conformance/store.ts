import { describe, expect, it } from 'vitest';
import { annotationConformance } from './annotations.ts';
import { answerConformance } from './answers.ts';
import { appendConformance } from './appends.ts';
import { auditRetentionConformance } from './audit-retention.ts';
import { backfillConformance } from './backfills.ts';
import { budgetCountingConformance, budgetRecordConformance } from './budgets.ts';
import { clockConformance } from './clock.ts';
import { correctionConformance } from './corrections.ts';
import { dashboardConformance } from './dashboards.ts';
import { datasetConformance } from './datasets.ts';
import { endpointConformance } from './endpoints.ts';
import { evaluationAnalyticsConformance } from './evaluation-analytics.ts';
import { evaluationJobConformance } from './evaluation-jobs.ts';
import { evaluatorRunConformance } from './evaluator-runs.ts';
import { evaluatorStoreConformance } from './evaluators.ts';
import { eventStoreConformance, requestEventConformance } from './events.ts';
import { experimentConformance } from './experiments.ts';
import { feedbackConformance } from './feedback.ts';
import { filterMeaningConformance } from './filter-meaning.ts';
import { governanceConformance } from './governance.ts';
import { installationConformance } from './installation.ts';
import { judgeSpendingConformance } from './judge-spending.ts';
import { keyStoreConformance, projectConformance } from './keys.ts';
import { largePartConformance } from './large-parts.ts';
import { largeTraceConformance } from './large-traces.ts';
import { leaseConformance } from './leases.ts';
import { logRecordConformance } from './log-records.ts';
import { logRetentionConformance } from './log-retention.ts';
import { managementConformance } from './management.ts';
import { measuringConformance } from './measuring.ts';
import { modelPercentilesConformance } from './model-percentiles.ts';
import { monitorDigitsConformance, monitorStoreConformance } from './monitors.ts';
import { ownRequestConformance } from './own-requests.ts';
import { projectSettingsConformance } from './projects.ts';
import { promptConformance } from './prompts.ts';
import { repricingConformance } from './repricing.ts';
import { requestStoreConformance } from './requests.ts';
import { resentSpanConformance } from './resent-spans.ts';
import { PROJECT, sampleAppend, sampleEvaluator } from './samples.ts';
import { savedViewConformance } from './saved-views.ts';
import { searchIndexConformance } from './search-index.ts';
import { sessionConformance } from './sessions.ts';
import { spendConformance } from './spend.ts';
import { type OpenManagement, type OpenSubject, withStore } from './subject.ts';
import { traceAnalyticsConformance } from './trace-analytics.ts';
import { analyticsPropertyConformance } from './trace-analytics-property.ts';
import { traceChangeConformance } from './trace-changes.ts';
import { traceMatchConformance } from './trace-match.ts';
import { traceRetentionConformance } from './trace-retention.ts';
import { traceRowConformance } from './trace-rows.ts';
import { traceSearchConformance } from './trace-search.ts';
import { traceTextConformance } from './trace-texts.ts';
import { traceValuesConformance } from './trace-values.ts';
import { traceReadConformance } from './traces.ts';
import { triggerConformance } from './triggers.ts';
import { changeEventConformance, virtualKeyConformance } from './virtual-keys.ts';
import { webhookConformance } from './webhooks.ts';

/** All rules of the store: those of its three ports, and those that they have in common. */
export function storeConformance(open: OpenSubject): void {
  engineConformance(open);
  plainRoomConformance(open);
}

/** Those that an engine could break: what has queries, locks or commits of its own. */
export function engineConformance(open: OpenSubject): void {
  appendConformance(open);
  wholeConformance(open);
  lockingRoomConformance(open);
  logPortConformance(open);
  telemetryPortConformance(open);
  clockConformance(open);
}

/** The rules of `Management`. */
export function managementPortConformance(open: OpenManagement): void {
  lockingRoomConformance(open);
  plainRoomConformance(open);
}

/** Rooms that are written once over the object mapper, as rows of one table each. */
function plainRoomConformance(open: OpenManagement): void {
  projectSettingsConformance(open);
  evaluatorStoreConformance(open);
  dashboardConformance(open);
  datasetConformance(open);
  promptConformance(open);
  experimentConformance(open);
  savedViewConformance(open);
}

function lockingRoomConformance(open: OpenManagement): void {
  installationConformance(open);
  keyStoreConformance(open);
  projectConformance(open);
  managementConformance(open);
  evaluatorRunConformance(open);
  judgeSpendingConformance(open);
  monitorStoreConformance(open);
  triggerConformance(open);
  endpointConformance(open);
  budgetRecordConformance(open);
  sessionConformance(open);
  virtualKeyConformance(open);
  backfillConformance(open);
  auditRetentionConformance(open);
}

/** The rules of `Log`, and of the endpoints that its events are delivered to. */
export function logPortConformance(open: OpenSubject): void {
  requestStoreConformance(open);
  eventStoreConformance(open);
  requestEventConformance(open);
  correctionConformance(open);
  governanceConformance(open);
  budgetCountingConformance(open);
  changeEventConformance(open);
  spendConformance(open);
  webhookConformance(open);
  evaluationJobConformance(open);
  leaseConformance(open);
  answerConformance(open);
  logRetentionConformance(open);
}

/** The rules of `Telemetry`. */
export function telemetryPortConformance(open: OpenSubject): void {
  traceConformance(open);
  feedbackConformance(open);
  annotationConformance(open);
  traceAnalyticsConformance(open);
  modelPercentilesConformance(open);
  analyticsPropertyConformance(open);
  evaluationAnalyticsConformance(open);
}

/** What reads or changes texts of traces, or goes through them. */
export function traceConformance(open: OpenSubject): void {
  traceReadConformance(open);
  traceTextConformance(open);
  largePartConformance(open);
  largeTraceConformance(open);
  resentSpanConformance(open);
  ownRequestConformance(open);
  traceChangeConformance(open);
  logRecordConformance(open);
  traceRowConformance(open);
  traceSearchConformance(open);
  traceMatchConformance(open);
  filterMeaningConformance(open);
  traceValuesConformance(open);
  searchIndexConformance(open);
  repricingConformance(open);
  measuringConformance(open);
  traceRetentionConformance(open);
}

/** What a writer in a thread of its own could break: digits of numbers, bytes, being ready and closing. */
export function threadConformance(open: OpenSubject): void {
  monitorDigitsConformance(open);
  answerConformance(open);
  wholeConformance(open);
}

function wholeConformance(open: OpenSubject): void {
  describe('the store', () => {
    it(
      'is ready when it can read and write',
      withStore(open, async (store) => {
        await store.ready();
      }),
    );

    it(
      'MUST finish every accepted write before it is closed, and refuses what comes later',
      withStore(open, async (store) => {
        const appends = Array.from({ length: 100 }, () => store.traces.append(sampleAppend()));
        const closed = store.close();
        const late = await Promise.allSettled([
          store.traces.append(sampleAppend()),
          store.traces.find(PROJECT.number, 'x'),
          store.evaluators.insert(sampleEvaluator(), 1),
          store.management.version('x'),
          store.ready(),
        ]);
        expect(late.map((each) => each.status === 'rejected' && each.reason.code)).toEqual(
          Array.from({ length: 5 }, () => 'unavailable'),
        );
        await closed;
        expect(await Promise.all(appends)).toHaveLength(100);
      }),
    );
  });
}
