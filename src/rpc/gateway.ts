/** GatewayService: message <-> domain values. */

import type { GatewayService } from '../../gen/spandrel/v1/gateway_pb.js';
import type { Gateway, ItemOutcome } from '../domain/gateway.ts';
import type { Implementation } from './method.ts';
import { governanceEventsToJson, requestsToJson } from './report-request.ts';
import { organizationOf } from './scope.ts';

const IGNORED_TOLD_MAX = 100;

export function createGatewayRpc({ gateway }: { readonly gateway: Gateway }): Implementation<typeof GatewayService> {
  return {
    reportRequests: {
      spelling: 'literals',
      toJson: requestsToJson,
      async handleJson(body, _facts, context) {
        const { project, nowMs } = context;
        const organization = organizationOf(context);
        const outcomes = await gateway.reportRequests(body, { organization, project, nowMs });
        return { ...answerOf(outcomes), ...ignoredOf(outcomes) };
      },
    },
    reportGovernanceEvents: {
      spelling: 'literals',
      toJson: governanceEventsToJson,
      async handleJson(body, _facts, context) {
        return answerOf(await gateway.reportGovernanceEvents(body, { organization: organizationOf(context) }));
      },
    },
  };
}

/** Nothing when all members are known: then the answer does not speak of it. */
function ignoredOf(outcomes: readonly ItemOutcome[]) {
  const ignored = outcomes.flatMap(({ unknown }, index) => unknown.map((field) => ({ index, field })));
  return ignored.length === 0 ? {} : { ignoredMembers: { ignored: ignored.slice(0, IGNORED_TOLD_MAX) } };
}

function answerOf(outcomes: readonly ItemOutcome[]) {
  const rejected = outcomes.flatMap(({ rejection }, index) => (rejection === null ? [] : [{ index, ...rejection }]));
  return { accepted: outcomes.length - rejected.length, rejected };
}
