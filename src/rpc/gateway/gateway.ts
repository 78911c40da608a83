/** GatewayService: message <-> domain values. */

import { type GatewayService, RejectionCode } from '../../../gen/spandrel/v1/gateway_pb.js';
import type { JsonValue } from '../../domain/fault.ts';
import type { Gateway, ItemOutcome, Rejection } from '../../domain/gateway/gateway.ts';
import type { Implementation, Run } from '../method.ts';
import { organizationOf } from '../scope.ts';
import { governanceEventsToJson, requestsToJson } from './report-request.ts';

type Rpcs = (typeof GatewayService)['method'];

const rejectionCodes: Readonly<Record<Rejection['code'], RejectionCode>> = {
  invalid_record: RejectionCode.INVALID_RECORD,
  project_not_found: RejectionCode.PROJECT_NOT_FOUND,
  project_mismatch: RejectionCode.PROJECT_MISMATCH,
  already_completed: RejectionCode.ALREADY_COMPLETED,
};

const IGNORED_TOLD_MAX = 100;

export function createGatewayRpc({ gateway }: { readonly gateway: Gateway }): Implementation<typeof GatewayService> {
  const reportRequests = (body: JsonValue): Run<Rpcs['reportRequests']> => {
    return async (context) => {
      const { project, nowMs } = context;
      const organization = organizationOf(context);
      const outcomes = await gateway.reportRequests(body, { organization, project, nowMs });
      return { ...answerOf(outcomes), ...ignoredOf(outcomes) };
    };
  };
  const reportGovernanceEvents = (body: JsonValue): Run<Rpcs['reportGovernanceEvents']> => {
    return async (context) =>
      answerOf(await gateway.reportGovernanceEvents(body, { organization: organizationOf(context) }));
  };
  return {
    reportRequests: {
      spelling: 'literals',
      readMessage: (request) => reportRequests(requestsToJson(request)),
      readJson: reportRequests,
    },
    reportGovernanceEvents: {
      spelling: 'literals',
      readMessage: (request) => reportGovernanceEvents(governanceEventsToJson(request)),
      readJson: reportGovernanceEvents,
    },
  };
}

/** Undefined when all members are known: then the response has no such member. */
function ignoredOf(outcomes: readonly ItemOutcome[]) {
  const ignored = outcomes.flatMap(({ unknown }, index) => unknown.map((field) => ({ index, field })));
  return ignored.length === 0 ? {} : { ignoredMembers: { ignored: ignored.slice(0, IGNORED_TOLD_MAX) } };
}

function answerOf(outcomes: readonly ItemOutcome[]) {
  const rejected = outcomes.flatMap(({ rejection }, index) =>
    rejection === null ? [] : [{ index, code: rejectionCodes[rejection.code], message: rejection.message }],
  );
  return { accepted: outcomes.length - rejected.length, rejected };
}
