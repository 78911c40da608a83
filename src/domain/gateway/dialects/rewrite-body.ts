/** Changes members of the body of a request and leaves every other byte as it is. */

import { textStart } from '../../../json/exact-json.ts';
import { applySplices, findMembers, type Members, removalsOf, type Splice } from './json-members.ts';

export type BodyChange = {
  /** Replaces the model that the body has: for an alias. */
  readonly model?: string;
  /** Sets `stream_options.include_usage` to true, and leaves its other members. */
  readonly includeUsage?: boolean;
  /** Removes `stream_options`, whatever `includeUsage` says: for a provider that refuses it. */
  readonly withoutStreamOptions?: boolean;
};

/** Of several members of one name the last one is changed, because it counts. `bytes` that hold no object stay as they are. */
export function rewriteBody(bytes: Buffer, change: BodyChange): Buffer {
  const { model, includeUsage = false, withoutStreamOptions = false } = change;
  const find = (name: string) => findMembers(bytes, name, textStart(bytes));
  const splices: Splice[] = [];
  const sent = model === undefined ? undefined : find('model')?.found.at(-1);
  if (sent !== undefined) splices.push({ start: sent.valueStart, end: sent.end, text: JSON.stringify(model) });
  const options = withoutStreamOptions || includeUsage ? find('stream_options') : null;
  if (options !== null && withoutStreamOptions) splices.push(...removalsOf(options));
  else if (options !== null) splices.push(askForUsage(bytes, options));
  return applySplices(bytes, splices);
}

function askForUsage(bytes: Buffer, options: Members): Splice {
  const last = options.found.at(-1);
  // Null and other types stand for no options.
  const inner = last === undefined ? null : findMembers(bytes, 'include_usage', last.valueStart);
  if (inner === null) return setMember(options, 'stream_options', '{"include_usage":true}');
  return setMember(inner, 'include_usage', 'true');
}

/** Changes the last member of the name, or adds one at the end of the object. */
function setMember({ found, isEmpty, close }: Members, name: string, value: string): Splice {
  const last = found.at(-1);
  if (last !== undefined) return { start: last.valueStart, end: last.end, text: value };
  return { start: close, end: close, text: `${isEmpty ? '' : ','}${JSON.stringify(name)}:${value}` };
}
