import { formatCount } from '../design/format.ts';
import page from '../design/page.module.css';
import type { Effect } from './effect.ts';

/** Longer lists are folded. */
const LISTED_MAX = 20;

type EffectViewProps = {
  readonly title: string;
  readonly effect: Effect;
  readonly isPersonal?: boolean;
  readonly isKey?: boolean;
};

export function EffectView({
  title,
  effect: { granted, without },
  isPersonal = false,
  isKey = false,
}: EffectViewProps) {
  const writes = isKey ? granted.filter((name) => !name.endsWith(':view')) : [];
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
          These apply only to the whole organization: <span className={page.mono}>{without.join(', ')}</span>
        </p>
      )}
      {writes.length > 0 && (
        <p className={page.warned}>
          It can change data: {formatCount(writes.length)} of its permissions do more than view. The permissionMode
          “readonly” of the API is only a label and does not restrict a key. For a read-only key, choose the role View
          data.
        </p>
      )}
      {isPersonal && <p className={page.soft}>Limited to the permissions you have.</p>}
    </div>
  );
}
