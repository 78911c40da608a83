import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import { formatAge, formatInstant, formatShort, NONE } from './format.ts';

/** Shows an age or a time of day, with the other as tooltip. */
export function Instant({
  at,
  as = 'age',
}: {
  readonly at: Timestamp | null | undefined;
  readonly as?: 'age' | 'short';
}) {
  if (!at) return <span>{NONE}</span>;
  const [text, title] = as === 'age' ? [formatAge(at), formatInstant(at)] : [formatShort(at), formatAge(at)];
  return (
    <time dateTime={timestampDate(at).toISOString()} title={title}>
      {text}
    </time>
  );
}
