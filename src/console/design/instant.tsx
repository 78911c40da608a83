import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import { formatAge, formatInstant, formatShort, NONE } from './format.ts';

type InstantProps = { readonly at: Timestamp | undefined; readonly as?: 'age' | 'short' };

/** Shows an age or a time of day, with the other as tooltip. */
export function Instant({ at, as = 'age' }: InstantProps) {
  if (!at) return <span>{NONE}</span>;
  const [text, title] = as === 'age' ? [formatAge(at), formatInstant(at)] : [formatShort(at), formatAge(at)];
  return (
    <time dateTime={timestampDate(at).toISOString()} title={title}>
      {text}
    </time>
  );
}
