/** The rooms of management as verbs of the writer: `evaluators.find`. Each call is one message to its thread. */

import type { Rooms } from '../../management/rooms.ts';

export type RoomVerb = { [Room in keyof Rooms]: `${Room}.${keyof Rooms[Room] & string}` }[keyof Rooms];

export type RoomVerbs = {
  [Name in RoomVerb]: Name extends `${infer Room extends keyof Rooms}.${infer Verb}`
    ? Rooms[Room][Verb & keyof Rooms[Room]]
    : never;
};

export function listVerbs(rooms: Rooms): RoomVerbs {
  const verbs = Object.entries(rooms).flatMap(([room, served]) =>
    Object.entries(served).map(([verb, serve]) => [`${room}.${verb}`, serve]),
  );
  return Object.fromEntries(verbs);
}

/** The rooms of those verbs. */
export function roomsOf(verbs: Readonly<Record<string, (...args: never[]) => Promise<unknown>>>): Rooms {
  const rooms: Record<string, Record<string, unknown>> = {};
  for (const [name, call] of Object.entries(verbs)) {
    const [room = '', verb] = name.split('.');
    if (verb === undefined) continue;
    rooms[room] ??= {};
    rooms[room][verb] = async (...args: never[]) => restoreBuffers(await call(...args));
  }
  return rooms as unknown as Rooms;
}

/** Buffers become plain Uint8Arrays when they pass between threads. */
function restoreBuffers(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  if (Array.isArray(value)) return value.map(restoreBuffers);
  if (!(value instanceof Object) || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, restoreBuffers(each)]));
}
