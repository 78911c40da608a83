/** GatewayService: message <-> domain values. */

import type { GatewayService } from '../../gen/spandrel/v1/gateway_pb.js';
import type { Gateway, ItemOutcome } from '../domain/gateway.ts';
import type { Implementation } from './method.ts';
import { governanceEventsToJson, requestsToJson } from './report-request.ts';
import { organizationOf } from './scope.ts';

export function createGatewayRpc({ gateway }: { readonly gateway: Gateway }): Implementation<typeof GatewayService> {
  return {
    reportRequests: {
      spelling: 'literals',
      toJson: requestsToJson,
      async handleJson(body, _facts, context) {
        const { project, nowMs } = context;
        const organization = organizationOf(context);
        return answerOf(await gateway.reportRequests(body, { organization, project, nowMs }));
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

function answerOf(outcomes: readonly ItemOutcome[]) {
  const rejected = outcomes.flatMap(({ rejection }, index) => (rejection === null ? [] : [{ index, ...rejection }]));
  return { accepted: outcomes.length - rejected.length, rejected };
}
