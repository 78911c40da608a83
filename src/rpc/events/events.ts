/** EventService: message <-> domain values. */

import type { MessageInitShape } from '@bufbuild/protobuf';
import type { EventSchema, EventService } from '../../../gen/spandrel/v1/events_pb.js';
import { SCHEMA_VERSION, type StoredEvent } from '../../domain/events/event.ts';
import type { Events } from '../../domain/events/events.ts';
import { cursorRequest, pageMessage } from '../cursor-page.ts';
import { checkRange, requireRange } from '../epoch-ms.ts';
import type { Implementation } from '../method.ts';
import { organizationOf } from '../scope.ts';

export function createEventRpc(deps: { readonly events: Events }): Implementation<typeof EventService> {
  return {
    listEvents: {
      check: ({ createdFrom, createdTo }) => checkRange(createdFrom, createdTo),
      async handle(request, context) {
        const range = requireRange(request.createdFrom, request.createdTo);
        const listing = { ...range, type: request.eventType ?? null, ...cursorRequest(request) };
        const { events, nextCursor } = await deps.events.list(organizationOf(context), listing, context.nowMs);
        return pageMessage({ items: events, nextCursor }, toMessage);
      },
    },
    async getEvent(request, context) {
      return { data: toMessage(await deps.events.get(organizationOf(context), request.id, context.nowMs)) };
    },
  };
}

/** Cuts the data member out of the stored text, so that a listed event has the same bytes as the emitted one. */
function toMessage(event: StoredEvent): MessageInitShape<typeof EventSchema> {
  const { envelope, id } = event;
  const head = `{"id":${JSON.stringify(id)},"type":"`;
  const typeEnd = envelope.indexOf('"', head.length);
  const createdAt = typeEnd + '","created":"'.length;
  const createdEnd = envelope.indexOf('"', createdAt);
  const dataAt = createdEnd + `","schema_version":"${SCHEMA_VERSION}","data":`.length;
  return {
    id,
    eventType: envelope.slice(head.length, typeEnd),
    created: envelope.slice(createdAt, createdEnd),
    schemaVersion: SCHEMA_VERSION,
    dataJson: envelope.slice(dataAt, -1),
  };
}
