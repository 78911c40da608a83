/** Which deliveries of endpoints are to be taken, and when the next one of each will be. */

import type { DeliveryStore, DueList } from '../../domain/webhook-store.ts';
import type { Ask, RowOf } from '../questions.ts';
import { deliveryStatuses } from '../rows/webhook-codes.ts';
import { inParts } from './delivery-counts.ts';
import { findLeast } from './outboxes.ts';
import type { EndpointQuestions } from './stores.ts';

type Found = RowOf<EndpointQuestions['endpointsDue']['listDue']>;

const SENDING = deliveryStatuses.code('sending');

export function createDueLists({ endpointsDue }: EndpointQuestions, ask: Ask): DeliveryStore['due'] {
  return async (endpointNumbers, question) => {
    const parts = await inParts(endpointNumbers, (numbers) => ask(endpointsDue.listDue, { numbers, ...question }));
    const lists = new Map(parts.flat().map((row) => [row.endpointNumber, toList(row, question.nowMs)]));
    const { perEndpointMax } = question;
    return endpointNumbers.map((endpointNumber) => {
      const { waiting, lost, nextAtMs } = lists.get(endpointNumber) ?? NOTHING;
      return { endpointNumber, waiting: waiting.slice(0, perEndpointMax), lost, nextAtMs };
    });
  };
}

const NOTHING: Omit<DueList, 'endpointNumber'> = { waiting: [], lost: [], nextAtMs: null };

function toList({ found, run: currentRun }: Found, nowMs: number): Omit<DueList, 'endpointNumber'> {
  const inOrder = found.toSorted((one, other) => one.dueAtMs - other.dueAtMs || one.number - other.number);
  const sending = inOrder.filter(({ status }) => status === SENDING);
  const waiting = inOrder.filter(({ status }) => status !== SENDING);
  const isDue = ({ run, dueAtMs }: Found['found'][number]) => run < currentRun || dueAtMs <= nowMs;
  const isLost = ({ dueAtMs }: Found['found'][number]) => dueAtMs <= nowMs;
  const next = [...sending.filter((row) => !isLost(row)), ...waiting.filter((row) => !isDue(row))];
  return {
    waiting: waiting
      .filter(isDue)
      .map(({ number, fence, replayNumber }) => ({ number, fence, isReplay: replayNumber !== null })),
    lost: sending.filter(isLost).map(({ number, fence }) => ({ number, fence })),
    nextAtMs: findLeast(next.map(({ dueAtMs }) => dueAtMs)),
  };
}
