/** Unknown members of records over REST: a misspelled cost would else be lost without a warning. */

import type { DescMessage } from '@bufbuild/protobuf';
import { ReportedRequestSchema } from '../../../gen/spandrel/v1/gateway_pb.js';
import { cutToCharacters } from '../../domain/text-limits.ts';
import { isArray, isObject } from '../../json/free-json.ts';
import type { LosslessJson } from '../../json/lossless-json.ts';
import { isDeclared, restName } from '../rest-shape.ts';

const LISTED_MAX = 100;
const SHOWN_NAME_CHARACTERS_MAX = 100;

type IgnoredMember = { readonly index: number; readonly field: string };

/** At most 100, in the order of the records. */
export function findIgnored(body: LosslessJson): IgnoredMember[] {
  const records = isObject(body) && isArray(body.records) ? body.records : [];
  const ignored = records.flatMap((record, index) =>
    unknownIn(record, ReportedRequestSchema, '').map((field) => ({ index, field })),
  );
  return ignored.slice(0, LISTED_MAX);
}

/** The paths of the unknown members of one object, and of the objects that its fields hold. */
function unknownIn(value: LosslessJson | undefined, desc: DescMessage, path: string): readonly string[] {
  if (!isObject(value)) return [];
  const known = new Set(desc.fields.map(restName));
  const unknown = Object.keys(value).filter((name) => !known.has(name));
  const inside = desc.fields.flatMap((field) =>
    field.fieldKind === 'message' && isDeclared(field.message)
      ? unknownIn(value[restName(field)], field.message, `${path}${restName(field)}.`)
      : [],
  );
  return [
    ...unknown.slice(0, LISTED_MAX).map((name) => path + cutToCharacters(name, SHOWN_NAME_CHARACTERS_MAX)),
    ...inside,
  ];
}
