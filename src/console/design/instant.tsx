import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import { formatAge, formatInstant, formatShort, NONE } from './format.ts';

/** How long ago, or the time of day; the other on pointing at it. */
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
