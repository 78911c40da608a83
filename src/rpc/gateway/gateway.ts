/** GatewayService: message <-> domain values. */

import { type GatewayService, RejectionCode, ReportedRequestSchema } from '../../../gen/spandrel/v1/gateway_pb.js';
import type { JsonValue } from '../../domain/fault.ts';
import type { Gateway, ItemOutcome } from '../../domain/gateway/gateway.ts';
import type { DraftList, GovernanceDraft, RequestDraft } from '../../domain/gateway/gateway-draft.ts';
import { toGovernanceDrafts, toRequestDrafts } from '../../domain/gateway/gateway-json.ts';
import { isArray, isObject } from '../../json/free-json.ts';
import type { LosslessJson } from '../../json/lossless-json.ts';
import { numbersOf } from '../enums.ts';
import type { Context, Implementation, Run } from '../method.ts';
import { organizationOf } from '../scope.ts';
import { unknownMembers } from '../unknown-members.ts';
import { readGovernanceEvents, readRequests } from './report-request.ts';

type Rpcs = (typeof GatewayService)['method'];

const REJECTION_CODES = numbersOf(RejectionCode);
const LISTED_MAX = 100;

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

type IgnoredMember = { readonly index: number; readonly field: string };

/** Unknown members of records: a misspelled cost would else be lost without a warning. At most 100, in the order of the records. */
function findIgnored(body: LosslessJson): IgnoredMember[] {
  const records = isObject(body) && isArray(body.records) ? body.records : [];
  const ignored = records.flatMap((record, index) =>
    unknownMembers(record, ReportedRequestSchema).map((field) => ({ index, field })),
  );
  return ignored.slice(0, LISTED_MAX);
}

function answerOf(outcomes: readonly ItemOutcome[]) {
  const rejected = outcomes.flatMap(({ rejection }, index) =>
    rejection === null ? [] : [{ index, code: REJECTION_CODES[rejection.code], message: rejection.message }],
  );
  return { accepted: outcomes.length - rejected.length, rejected };
}
