/** EndpointService: converts messages to and from the domain. */

import type { EndpointService } from '../../../gen/spandrel/v1/endpoints_pb.js';
import type { DeliveryView } from '../../domain/delivery/delivery-view.ts';
import type { SecretEndpoint } from '../../domain/endpoints/endpoint-view.ts';
import type { Endpoints } from '../../domain/endpoints/endpoints.ts';
import type { StartedReplay } from '../../domain/endpoints/replays.ts';
import { SCHEMA_VERSION } from '../../domain/events/event.ts';
import { EVENT_TYPES } from '../../domain/events/event-type.ts';
import { cursorRequest, pageMessage } from '../cursor-page.ts';
import { answerOnce, managementCallOf, targetOf } from '../management-call.ts';
import { nulProblems } from '../management-problems.ts';
import type { Implementation } from '../method.ts';
import { toAttempt, toDelivery, toEndpoint, toHealth, toReplay, toSecretEndpoint, toTest } from './endpoint-message.ts';
import {
  changedBaseProblems,
  emptyCredentialProblems,
  implyKind,
  readEndpointChange,
  readNewEndpoint,
  readRange,
  unsetEnumProblems,
} from './endpoint-request.ts';

type Service = Implementation<typeof EndpointService>;

type Deps = { readonly endpoints: Endpoints };

export function createEndpointRpc(deps: Deps): Service {
  return { ...createChanges(deps), ...createDeliveries(deps), ...createReplays(deps) };
}

const OVERLAP_DEFAULT_SECONDS = 86_400;

type Changes =
  | 'createEndpoint'
  | 'listEndpoints'
  | 'getEndpoint'
  | 'updateEndpoint'
  | 'archiveEndpoint'
  | 'rollEndpointSecret'
  | 'testEndpoint';

function createChanges({ endpoints }: Deps): Pick<Service, Changes> {
  const secretResponse = (made: SecretEndpoint) => ({ data: toSecretEndpoint(made) });
  return {
    createEndpoint: {
      completeMessage(request) {
        implyKind(request);
        return emptyCredentialProblems(request);
      },
      check: (request, input) => [
        ...nulProblems(request, input),
        ...endpoints.creationProblems(readNewEndpoint(request)),
      ],
      handle: (request, context) =>
        answerOnce(context, { run: (call) => endpoints.create(call, readNewEndpoint(request)), show: secretResponse }),
    },
    async listEndpoints(request, context) {
      const page = await endpoints.list(managementCallOf(context), cursorRequest(request));
      // REST writes an empty text as null, which marks the last page of a paged request.
      const nextPageToken = page.nextCursor === null ? '' : page.nextCursor;
      return { data: page.endpoints.map(toEndpoint), nextPageToken };
    },
    getEndpoint: async (request, context) => ({ data: toEndpoint(await endpoints.get(targetOf(request, context))) }),
    updateEndpoint: {
      completeMessage({ endpoint, updateMask }) {
        if (endpoint === undefined) return [];
        const empty = emptyCredentialProblems(endpoint, updateMask);
        return empty.length > 0 ? empty : changedBaseProblems(endpoint);
      },
      check: (request, input) => [
        ...unsetEnumProblems(request),
        ...nulProblems(request, input),
        ...endpoints.changeProblems(readEndpointChange(request)),
      ],
      async handle(request, context) {
        return { data: toEndpoint(await endpoints.update(targetOf(request, context), readEndpointChange(request))) };
      },
    },
    async archiveEndpoint(request, context) {
      await endpoints.archive(targetOf(request, context));
      return {};
    },
    rollEndpointSecret: ({ id, overlapSeconds = OVERLAP_DEFAULT_SECONDS }, context) =>
      answerOnce(context, {
        run: (call) => endpoints.rollSecret({ call, id, overlapSeconds }),
        show: secretResponse,
      }),
    testEndpoint: async (request, context) => ({ data: toTest(await endpoints.test(targetOf(request, context))) }),
  };
}

type Deliveries = 'listDeliveries' | 'getDelivery' | 'redeliverDelivery' | 'listDeadLetters' | 'getEndpointHealth';

function createDeliveries({ endpoints }: Deps): Pick<Service, Deliveries> {
  return {
    async listDeliveries(request, context) {
      const page = await endpoints.attempts({ ...targetOf(request, context), ...cursorRequest(request) });
      return pageMessage(page, toAttempt);
    },
    async getDelivery(request, context) {
      const { delivery, attempts } = await endpoints.delivery(targetOf(request, context), request.dispatchId);
      return { data: { delivery: toDelivery(delivery), attempts: attempts.map(toAttempt) } };
    },
    redeliverDelivery: ({ id, dispatchId }, context) =>
      answerOnce(context, {
        run: (call) => endpoints.redeliver({ call, id, dispatchId }),
        show: (delivery: DeliveryView) => ({ data: toDelivery(delivery) }),
      }),
    async listDeadLetters(request, context) {
      const page = await endpoints.deadLetters({ ...targetOf(request, context), ...cursorRequest(request) });
      return pageMessage(page, toDelivery);
    },
    getEndpointHealth: async (request, context) => ({
      data: toHealth(await endpoints.health(targetOf(request, context))),
    }),
  };
}

type Replays = 'replayEvents' | 'getReplay' | 'listEventTypes';

const FAMILY = 'gateway';

function createReplays({ endpoints }: Deps): Pick<Service, Replays> {
  return {
    replayEvents: {
      check(request) {
        const range = readRange(request);
        return range === null ? [] : endpoints.replayProblems(range);
      },
      async handle(request, context) {
        const range = readRange(request);
        if (range === null) throw new Error('the contract let a replay without a range through');
        return await answerOnce(context, {
          run: (call) => endpoints.startReplay({ call, id: request.id, range }),
          show: ({ replayId, matched }: StartedReplay) => ({ data: { replayId, matched: BigInt(matched) } }),
        });
      },
    },
    getReplay: async (request, context) => ({
      data: toReplay(await endpoints.replay(targetOf(request, context), request.replayId)),
    }),
    async listEventTypes() {
      const common = { family: FAMILY, schemaVersion: SCHEMA_VERSION };
      return { data: EVENT_TYPES.map(({ type, description }) => ({ ...common, eventType: type, description })) };
    },
  };
}
