/** Reports of gateways in the form of the port. */

import type { NewEvent } from '../../../src/domain/events/event.ts';
import type { GovernanceEventType } from '../../../src/domain/events/event-type.ts';
import type { RequestContent } from '../../../src/domain/events/request-content.ts';
import type { GovernanceReport, ReportedRequest, RequestReport } from '../../../src/domain/events/request-report.ts';
import { ORGANIZATION, PROJECT, RECEIVED_AT_MS } from './samples.ts';

/** Only required fields. */
export const BARE_CONTENT: RequestContent = {
  occurredAtMs: RECEIVED_AT_MS - 1000,
  virtualKeyId: '',
  principalUserId: null,
  endUserId: null,
  traceId: '',
  model: null,
  modelProviderId: null,
  requestType: null,
  usage: null,
  error: null,
  durationMs: null,
  labelsJson: '[]',
  metadataJson: '{}',
};
type RecordChanges = Partial<Omit<ReportedRequest, 'content'>> & { readonly content?: Partial<RequestContent> };

export function recordOf(
  status: ReportedRequest['status'],
  { content, ...changes }: RecordChanges = {},
): ReportedRequest {
  const whole = { ...BARE_CONTENT, ...content };
  return {
    projectId: PROJECT.id,
    projectNumber: PROJECT.number,
    gatewayRequestId: 'gw-1',
    status,
    content: whole,
    cost: null,
    price: { model: whole.model, usage: whole.usage, cost: null },
    ...changes,
  };
}

export function reportOf(records: readonly ReportedRequest[], receivedAtMs = RECEIVED_AT_MS): RequestReport {
  return {
    kind: 'requests',
    organizationId: ORGANIZATION.id,
    organizationNumber: ORGANIZATION.number,
    receivedAtMs,
    records,
  };
}

export function governance(id: string): NewEvent<GovernanceEventType> {
  return { id, type: 'gateway.virtual_key.created', dataJson: `{"event_id":${JSON.stringify(id)}}` };
}

export function governanceOf(events: GovernanceReport['events']): GovernanceReport {
  return { kind: 'governance', organizationNumber: ORGANIZATION.number, events };
}
