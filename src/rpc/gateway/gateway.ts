/** GatewayService: message <-> domain values. */

import { type GatewayService, RejectionCode } from '../../../gen/spandrel/v1/gateway_pb.js';
import type { JsonValue } from '../../domain/fault.ts';
import type { Gateway, ItemOutcome, Rejection } from '../../domain/gateway/gateway.ts';
import type { DraftList, GovernanceDraft, RequestDraft } from '../../domain/gateway/gateway-draft.ts';
import { toGovernanceDrafts, toRequestDrafts } from '../../domain/gateway/gateway-json.ts';
import type { Context, Implementation, Run } from '../method.ts';
import { organizationOf } from '../scope.ts';
import { findIgnored } from './ignored-members.ts';
import { readGovernanceEvents, readRequests } from './report-request.ts';

type Rpcs = (typeof GatewayService)['method'];

const rejectionCodes: Readonly<Record<Rejection['code'], RejectionCode>> = {
  invalid_record: RejectionCode.INVALID_RECORD,
  project_not_found: RejectionCode.PROJECT_NOT_FOUND,
  project_mismatch: RejectionCode.PROJECT_MISMATCH,
  already_completed: RejectionCode.ALREADY_COMPLETED,
};

export function createGatewayRpc({ gateway }: { readonly gateway: Gateway }): Implementation<typeof GatewayService> {
  const reportRequests = async (list: DraftList<RequestDraft>, context: Context<Rpcs['reportRequests']>) => {
    const { project, nowMs } = context;
    return answerOf(await gateway.reportRequests(list, { organization: organizationOf(context), project, nowMs }));
  };
  const reportGovernanceEvents = (list: DraftList<GovernanceDraft>): Run<Rpcs['reportGovernanceEvents']> => {
    return async (context) =>
      answerOf(await gateway.reportGovernanceEvents(list, { organization: organizationOf(context) }));
  };
  return {
    reportRequests: {
      spelling: 'literals',
      readMessage(request) {
        const list = readRequests(request);
        return (context) => reportRequests(list, context);
      },
      readJson(body) {
        const list = toRequestDrafts(body);
        return async (context) => ({ ...(await reportRequests(list, context)), ...ignoredIn(body) });
      },
    },
    reportGovernanceEvents: {
      spelling: 'literals',
      readMessage: (request) => reportGovernanceEvents(readGovernanceEvents(request)),
      readJson: (body) => reportGovernanceEvents(toGovernanceDrafts(body)),
    },
  };
}

/** Empty when all members are known: then the response has no such member. */
function ignoredIn(body: JsonValue) {
  const ignored = findIgnored(body);
  return ignored.length === 0 ? {} : { ignoredMembers: { ignored } };
}

function answerOf(outcomes: readonly ItemOutcome[]) {
  const rejected = outcomes.flatMap(({ rejection }, index) =>
    rejection === null ? [] : [{ index, code: rejectionCodes[rejection.code], message: rejection.message }],
  );
  return { accepted: outcomes.length - rejected.length, rejected };
}
