import { formatCount } from '../design/format.ts';
import page from '../design/page.module.css';
import type { Effect } from './effect.ts';

/** Longer lists are folded. */
const LISTED_MAX = 20;

type EffectViewProps = { readonly title: string; readonly effect: Effect; readonly isPersonal?: boolean };

export function EffectView({ title, effect: { granted, without }, isPersonal = false }: EffectViewProps) {
  const list = <p className={page.mono}>{granted.length === 0 ? 'Nothing yet.' : granted.join(', ')}</p>;
  return (
    <div className={`${page.card} ${page.padded}`} role="status">
      <h2>{title}</h2>
      {granted.length <= LISTED_MAX ? (
        list
      ) : (
        <details>
          <summary>{formatCount(granted.length)} permissions</summary>
          {list}
        </details>
      )}
      {without.length > 0 && (
        <p>
          Given only at the organization, so not here: <span className={page.mono}>{without.join(', ')}</span>
        </p>
      )}
      {isPersonal && <p className={page.soft}>Limited to the permissions you have yourself.</p>}
    </div>
  );
}
