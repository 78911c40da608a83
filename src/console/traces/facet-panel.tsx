/** The most frequent values of common filters among the traces of a search. A click adds the filter, or removes it. */

import { useQuery } from '@connectrpc/connect-query';
import { useId, useMemo } from 'react';
import { EvaluatorService } from '../../../gen/spandrel/v1/evaluators_pb.js';
import { TraceService, type TraceValueCount } from '../../../gen/spandrel/v1/traces_pb.js';
import { joined, Skeleton } from '../design/button.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { formatCount, NONE, nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { useSession } from '../session/session.tsx';
import styles from './facet-panel.module.css';
import { apiNameOf, type Filter, labelOf, parseQueryLine } from './query-line.ts';
import { useRangeQuery } from './range-query.ts';
import type { FinderSearch } from './search.ts';
import { toFilterInput, toOtherFilters, toRangeInput } from './search-input.ts';

const FACETS = ['error', 'model', 'user', 'label', 'name', 'type', 'prompt', 'prompt-version', 'origin', 'evaluator'];
const VALUES_MAX = 6;
/** Evaluators whose results are shown. */
const EVALUATORS_MAX = 3;

type PanelProps = {
  readonly search: FinderSearch;
  readonly onToggle: (filter: Filter) => void;
};

export function FacetPanel({ search, onToggle }: PanelProps) {
  const { q, not, range, from, to } = search;
  const input = useMemo(
    () => ({ ...toFilterInput({ q, not }), names: FACETS.map((name) => apiNameOf(name).name), limit: VALUES_MAX }),
    [q, not],
  );
  const found = useRangeQuery({
    method: TraceService.method.listTraceFacets,
    range: { range, from, to },
    input,
    toRangeInput,
  });
  const facets = found.data?.answer.facets ?? [];
  const valuesOf = (name: string) => facets.find((facet) => facet.name === apiNameOf(name).name)?.values ?? [];
  const chosen = new Set(parseQueryLine(q ?? '').filters.map(({ name }) => name));
  const results = valuesOf('evaluator')
    .slice(0, EVALUATORS_MAX)
    .map(({ value }) => `passed.${value}`);
  const isNothing = found.isSuccess && chosen.size === 0 && facets.every(({ values }) => values.length === 0);
  return (
    <aside id="facets" className={styles.panel} aria-label="Facets">
      {found.isError && <FailureNotice error={found.error} retry={found.refetch} />}
      {found.isPending && <Waiting />}
      {isNothing && <p className={page.soft}>No trace matches.</p>}
      {found.data && (
        <div className={joined(styles.groups, found.isPlaceholderData && styles.stale)}>
          {FACETS.map((name) =>
            // Its other values are those of a search without it.
            chosen.has(name) ? (
              <AskedGroup key={name} name={name} search={search} onToggle={onToggle} />
            ) : (
              <Group key={name} name={name} values={valuesOf(name)} search={search} onToggle={onToggle} />
            ),
          )}
          {results.map((name) => (
            <AskedGroup key={name} name={name} search={search} onToggle={onToggle} />
          ))}
        </div>
      )}
      {found.data?.answer.partial === true && (
        <p className={styles.note}>Of the newest traces only: rare values may be missing.</p>
      )}
    </aside>
  );
}

function Waiting() {
  return (
    <div role="status" aria-label="Counting values…" className={styles.groups}>
      {FACETS.slice(0, 4).map((name) => (
        <Skeleton key={name} height={96} />
      ))}
    </div>
  );
}

/** The names of saved evaluators; others have their id only. */
function useEvaluatorNames(): (id: string) => string {
  const { may } = useSession();
  const { data } = useQuery(EvaluatorService.method.listEvaluators, {}, { enabled: may('evaluations:view') });
  return (id) => data?.evaluators.find((each) => each.id === id)?.name ?? id;
}

type GroupProps = PanelProps & { readonly name: string };

/** Asks for the values of one filter, as if the search did not have it. */
function AskedGroup({ name, search, onToggle }: GroupProps) {
  const { q, not, range, from, to } = search;
  const input = useMemo(
    () => ({ ...toOtherFilters({ q, not }, name), ...apiNameOf(name), limit: VALUES_MAX }),
    [q, not, name],
  );
  const found = useRangeQuery({
    method: TraceService.method.suggestTraceValues,
    range: { range, from, to },
    input,
    toRangeInput,
  });
  if (found.isError) return <FailureNotice error={found.error} retry={found.refetch} />;
  if (found.isPending) return <Skeleton height={96} />;
  return <Group name={name} values={found.data.answer.values} search={search} onToggle={onToggle} />;
}

type Counted = Pick<TraceValueCount, 'value' | 'countRelation'> & { readonly count: bigint | null };

function Group({ name, values, search, onToggle }: GroupProps & { readonly values: readonly TraceValueCount[] }) {
  const heading = useId();
  const nameOf = useEvaluatorNames();
  const label = labelOf({ name, value: '' });
  const { key } = apiNameOf(name);
  const title = key === '' ? label : `${label.slice(0, -key.length)}${nameOf(key)}`;
  const textOf = (value: string) => nameControls(name === 'evaluator' ? nameOf(value) : value);
  const chosen = parseQueryLine(search.q ?? '').filters.filter((filter) => filter.name === name);
  const unlisted = chosen.filter(({ value }) => values.every((each) => each.value !== value));
  const shown: readonly Counted[] = [
    ...unlisted.map(({ value }) => ({ value, count: null, countRelation: 'eq' })),
    // A line has no filter for the empty text.
    ...values.filter(({ value }) => value !== ''),
  ];
  if (shown.length === 0) return null;
  return (
    <section aria-labelledby={heading}>
      <h2 id={heading} className={styles.name}>
        {nameControls(title)}
      </h2>
      <ul className={styles.values}>
        {shown.map(({ value, count, countRelation }) => (
          <li key={value}>
            <button
              type="button"
              className={styles.value}
              aria-pressed={chosen.some((filter) => filter.value === value)}
              title={textOf(value)}
              onClick={() => onToggle({ name, value })}
            >
              <span className={styles.text}>{textOf(value)}</span>{' '}
              <span className={styles.count}>
                {count === null ? NONE : `${countRelation === 'gte' ? '≥ ' : ''}${formatCount(count)}`}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
