/** Applies reports of gateways to the tables. The caller begins and ends the transaction. */

import type { AppendTables, OrganizationLog } from './append-tables.ts';
import { completeContent, isSameUsage, type RequestContent, unpackAdmission } from './request-content.ts';
import { findRequest, type RequestUpdate, recordRequest, renewRequest, settleRequest } from './request-record.ts';
import type {
  GovernanceReport,
  GovernanceResult,
  ReportedRequest,
  RequestRenewal,
  RequestReport,
  RequestsReported,
  Settled,
  Settlement,
  Unpriced,
} from './request-report.ts';
import { nextRequestState, type RequestSignal } from './request-state.ts';

/** Writes nothing when a price was computed for another model or usage than its event shows. */
export function applyRequests(tables: AppendTables, report: RequestReport): RequestsReported {
  const log = tables.log(report.organizationNumber);
  const unpriced = findUnpriced(log, report);
  if (unpriced.length > 0) return { kind: 'unpriced', records: unpriced };
  return { kind: 'reported', results: report.records.map((record) => recordRequest(log, statementOf(record, report))) };
}

export function applyGovernance(tables: AppendTables, report: GovernanceReport): readonly GovernanceResult[] {
  const log = tables.log(report.organizationNumber);
  return report.events.map((event) => (log.insertGovernanceEvent(event) ? 'emitted' : 'duplicate'));
}

export function applySettlement(tables: AppendTables, { admittedByMs, countMax }: Settlement): Settled {
  const overdue = tables.overdueRequests(admittedByMs, countMax);
  let count = 0;
  for (const { organizationNumber, key } of overdue) {
    if (settleRequest(tables.log(organizationNumber), key, admittedByMs)) count += 1;
  }
  return { count, hasMore: overdue.length === countMax };
}

/** Returns which of the requests still wait for their outcomes. */
export function applyRenewal(tables: AppendTables, renewal: RequestRenewal): readonly boolean[] {
  const log = tables.log(renewal.organizationNumber);
  return renewal.requests.map((request) => renewRequest(log, request, renewal.receivedAtMs));
}

function statementOf(record: ReportedRequest, { organizationId, receivedAtMs }: RequestReport): RequestUpdate {
  const { projectId, projectNumber, gatewayRequestId, content, cost, price } = record;
  return {
    projectId,
    projectNumber,
    organizationId,
    receivedAtMs,
    gatewayRequestId,
    signal: signalOf(record),
    content: () => content,
    cost,
    price: price.cost,
  };
}

function signalOf({ status }: ReportedRequest): Exclude<RequestSignal, { status: 'overdue' }> {
  return status === 'admitted' ? { status } : { status, source: 'report' };
}

/** What an outcome needs of its admission: its content, and whether it gave a cost. */
type AdmittedFacts = { readonly content: RequestContent; readonly isCostKnown: boolean };

function findUnpriced(log: OrganizationLog, report: RequestReport): readonly Unpriced[] {
  const begunHere = new Map<string, AdmittedFacts | null>();
  const found: Unpriced[] = [];
  for (const [index, record] of report.records.entries()) {
    const { content, cost, status } = record;
    if (status !== 'admitted' && cost === null && (content.model === null || content.usage === null)) {
      const known = findAdmitted(log, record, begunHere);
      const completed = known === null ? content : completeContent(content, known.content);
      if (known?.isCostKnown !== true && !isPriceOf(record, completed)) {
        found.push({ index, model: completed.model, usage: completed.usage });
      }
    }
    const name = nameOf(record);
    // Only its first record can admit a request.
    if (!begunHere.has(name)) {
      begunHere.set(name, status === 'admitted' ? { content, isCostKnown: cost !== null } : null);
    }
  }
  return found;
}

/** Null without an admission, or if the record changes nothing. */
function findAdmitted(
  log: OrganizationLog,
  record: ReportedRequest,
  begunHere: ReadonlyMap<string, AdmittedFacts | null>,
): AdmittedFacts | null {
  const row = findRequest(log, record);
  if (row === undefined) return begunHere.get(nameOf(record)) ?? null;
  if (row.admission === null || nextRequestState(row.state, signalOf(record)).emits === null) return null;
  const { content, cost } = unpackAdmission(row.admission);
  return { content, isCostKnown: cost !== null };
}

function nameOf({ projectNumber, gatewayRequestId }: ReportedRequest): string {
  return `${projectNumber} ${gatewayRequestId}`;
}

function isPriceOf({ price }: ReportedRequest, { model, usage }: RequestContent): boolean {
  return price.model === model && isSameUsage(price.usage, usage);
}
