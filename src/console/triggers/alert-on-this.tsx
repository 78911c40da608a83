import { Link, useParams } from '@tanstack/react-router';
import { buttonClass } from '../design/button.tsx';
import type { Prefill } from './draft.ts';

/** Begins a trigger from a search, or from the metric of a chart. */
export function AlertOnThis({ prefill }: { readonly prefill: Prefill }) {
  const { slug = '' } = useParams({ strict: false });
  return (
    <Link to="/$slug/triggers/new" params={{ slug }} search={prefill} className={buttonClass('plain')}>
      Alert on this
    </Link>
  );
}
