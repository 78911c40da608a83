/** Joins messages into the turns of a dialogue: a call of a tool and its result are one turn. */

import { parseExactly, writeExactly } from './exact-json.ts';
import type { CallPart, Message, Part, ResultPart } from './messages.ts';

/** The step that a turn belongs to. */
export type TurnOrigin = { readonly spanId: string; readonly name: string };

type TurnCommon = {
  /** Stays the same while more spans load. */
  readonly key: string;
  /** Null for the input and the output of the trace as a whole. */
  readonly origin: TurnOrigin | null;
  /** What was sent, as JSON. */
  readonly json: () => string;
};

export type MessageTurn = TurnCommon & {
  readonly kind: 'message';
  readonly role: string;
  readonly parts: readonly Part[];
};

export type CallTurn = TurnCommon & {
  readonly kind: 'call';
  readonly id: string | null;
  readonly name: string;
  /** JSON; null if only the result is known. */
  readonly argumentsJson: string | null;
  /** Null if there is none. */
  readonly result: readonly Part[] | null;
  readonly failed: boolean;
  /** What its message has beside it and nothing else shows. */
  readonly others: readonly Part[];
  /** The step that carried out the call, and how long it took. */
  readonly step: (TurnOrigin & { readonly ms: number }) | null;
};

export type Turn = MessageTurn | CallTurn;

export type Step = TurnOrigin & {
  readonly ms: number;
  readonly argumentsJson: string | null;
  readonly result: readonly Part[] | null;
  readonly error: string | null;
};

/** Collects turns in the order in which things were said. */
export function createDialogue() {
  const turns: Turn[] = [];
  /** The indexes of calls by their id and by their name; the latest is last. */
  const byId = new Map<string, number[]>();
  const byName = new Map<string, number[]>();
  /** The indexes of calls that no step has carried out yet, by their name. */
  const pending = new Map<string, number[]>();

  const addCall = (turn: CallTurn): void => {
    if (turn.id !== null) addTo(byId, turn.id, turns.length);
    addTo(byName, turn.name, turns.length);
    if (turn.step === null) addTo(pending, turn.name, turns.length);
    turns.push(turn);
  };
  const callAt = (index: number): CallTurn | null => {
    const turn = turns[index];
    return turn?.kind === 'call' ? turn : null;
  };
  const findCall = (part: ResultPart): number | undefined => {
    const all = part.id === null ? (part.name === null ? [] : byName.get(part.name)) : byId.get(part.id);
    const named = all?.slice(-CANDIDATES_MAX);
    const open = named?.findLast((index) => callAt(index)?.result === null);
    // The result that the messages have is the one that the model saw.
    return open ?? named?.findLast((index) => callAt(index)?.step !== null && !seenByModel.has(index));
  };
  /** The calls whose result is in a message, not only in the step that made it. */
  const seenByModel = new Set<number>();

  return {
    turns,

    addMessage(message: Message, origin: TurnOrigin | null, key: string): void {
      const said = message.parts.filter(({ kind }) => kind !== 'call' && kind !== 'result');
      const isOfCalls = said.length < message.parts.length && said.every((part) => part.kind === 'json' && part.rest);
      let others = isOfCalls ? said : [];
      const json = () => writeExactly(message.source);
      if (!isOfCalls) {
        turns.push({ kind: 'message', key, origin, json, role: message.role, parts: said });
      }
      let count = 0;
      for (const part of message.parts) {
        count += 1;
        if (part.kind === 'call') {
          addCall({ ...openCall(part), key: `${key}/${count}`, origin, json, others });
          others = [];
        }
        if (part.kind !== 'result') continue;
        const at = findCall(part);
        const call = at === undefined ? null : callAt(at);
        if (at === undefined || call === null) {
          const name = part.name ?? 'result';
          const turn = { kind: 'call', id: part.id, name, argumentsJson: null, step: null } as const;
          seenByModel.add(turns.length);
          addCall({ ...turn, key: `${key}/${count}`, origin, json, others, result: part.parts, failed: part.failed });
          others = [];
          continue;
        }
        seenByModel.add(at);
        const both = () => `[${call.json()},${json()}]`;
        turns[at] = {
          ...call,
          result: part.parts,
          failed: call.failed || part.failed,
          others: [...call.others, ...others],
          json: both,
        };
        others = [];
      }
    },

    /** A step that a tool made: part of the card of its call, or a card of its own if no message tells of the call. */
    addStep(step: Step, key: string, json: () => string): void {
      const { spanId, name, ms } = step;
      const called = namesOf(name).find((each) => (pending.get(each)?.length ?? 0) > 0);
      const open = (called === undefined ? undefined : pending.get(called))?.slice(0, CANDIDATES_MAX) ?? [];
      const wanted = step.argumentsJson === null ? null : canonical(step.argumentsJson);
      const same = open.find((index) => canonical(callAt(index)?.argumentsJson ?? null) === wanted);
      const at = same ?? open[0];
      const call = at === undefined ? null : callAt(at);
      if (called !== undefined) {
        const left = pending.get(called)?.filter((each) => each !== at) ?? [];
        pending.set(called, left);
      }
      const failure: readonly Part[] = step.error === null ? [] : [{ kind: 'text', title: 'Error', text: step.error }];
      if (at === undefined || call === null) {
        const result = step.result === null && failure.length === 0 ? null : [...(step.result ?? []), ...failure];
        const turn = { kind: 'call', id: null, name, argumentsJson: step.argumentsJson, result } as const;
        addCall({
          ...turn,
          key,
          origin: step,
          json,
          others: [],
          failed: step.error !== null,
          step: { spanId, name, ms },
        });
        return;
      }
      const result = seenByModel.has(at) ? call.result : (step.result ?? call.result);
      turns[at] = {
        ...call,
        result: failure.length === 0 ? result : [...(result ?? []), ...failure],
        failed: call.failed || step.error !== null,
        step: { spanId, name, ms },
      };
    },
  };
}

function openCall({ id, name, text }: CallPart) {
  return { kind: 'call', id, name, argumentsJson: text, result: null, failed: false, step: null } as const;
}

function addTo(map: Map<string, number[]>, key: string, index: number): void {
  const known = map.get(key);
  if (known) known.push(index);
  else map.set(key, [index]);
}

/** What a call of a step may be named: frameworks name a step `execute_tool search` or `search.tool`. */
function namesOf(name: string): readonly string[] {
  return [name, ...name.split(/[\s.:/]+/, WORDS_MAX)];
}

const WORDS_MAX = 20;
/** Of calls with one name or id, those that a result or a step may belong to. */
const CANDIDATES_MAX = 50;
const CANONICAL_MAX = 20_000;

/** The same text for arguments that differ in spaces and in the order of members only. */
function canonical(json: string | null): string | null {
  if (json === null || json.length > CANONICAL_MAX) return json;
  const value = parseExactly(json);
  const inner = typeof value === 'string' && /^[[{]/.test(value) ? tryParse(value) : value;
  return JSON.stringify(inner, (_key, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : member,
  );
}

function tryParse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
}
