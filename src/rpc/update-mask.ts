/** Which fields an update sends: those its mask names or, without a mask, those that are there. */

import type { FieldMask } from '@bufbuild/protobuf/wkt';

/** `path` as in the contract; `value` is what the request has there. */
export function isSent(mask: FieldMask | undefined, path: string, value: unknown): boolean {
  const paths = mask?.paths ?? [];
  return paths.length > 0 ? paths.includes(path) : value !== undefined;
}
