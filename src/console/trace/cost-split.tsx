/** The cost of a span by kind of token, with the rates that were used. */

import { useQuery } from '@connectrpc/connect-query';
import { PricingService } from '../../../gen/spandrel/v1/pricing_pb.js';
import { CostSource, type TraceSpan } from '../../../gen/spandrel/v1/traces_pb.js';
import { formatCost, formatCount } from '../design/format.ts';
import page from '../design/page.module.css';
import { BareTable } from '../design/table.tsx';
import { perMillion } from '../prices/rates.ts';
import { useLinkedProject } from '../session/session.tsx';
import styles from './detail.module.css';
import { Section } from './section.tsx';
import { splitCost } from './token-costs.ts';

/** The price of a model at an instant never changes while a page is open. */
const STALE_MS = 300_000;
const LISTED: ReadonlySet<CostSource | undefined> = new Set([CostSource.REGISTRY, CostSource.OVERRIDE]);
const COLUMNS = ['Kind', { number: 'Tokens' }, { number: 'Cost' }];

export function CostSplit({ span: { model, vendor, metrics, timestamps } }: { readonly span: TraceSpan }) {
  // Rates are those of an organization, which only its members read.
  const isMember = useLinkedProject() !== null;
  const at = timestamps?.startedAt;
  const input = { model: model ?? '', ...(vendor !== undefined && { vendor }), ...(at && { at }) };
  const isListed = isMember && model !== undefined && metrics !== undefined && LISTED.has(metrics.costSource);
  const { data } = useQuery(PricingService.method.matchPrice, input, { enabled: isListed, staleTime: STALE_MS });
  const parts = metrics && data?.match ? splitCost(metrics, data.match) : null;
  if (!isListed || parts === null) return null;
  return (
    <Section title="Cost by kind of token">
      <div className={styles.dense} tabIndex={0} role="group" aria-label="Cost by kind of token">
        <BareTable columns={COLUMNS}>
          {parts.map(({ label, tokens, usdPerToken, usd }) => (
            <tr key={label}>
              <td>{label}</td>
              <td className={page.number}>{formatCount(tokens)}</td>
              <td className={page.number}>
                {formatCost(usd)}
                <span className={styles.note} title="Per million tokens">
                  {perMillion(usdPerToken)} / M
                </span>
              </td>
            </tr>
          ))}
          <tr>
            <td>Together</td>
            <td className={page.number} />
            <td className={page.number}>{formatCost(metrics?.cost)}</td>
          </tr>
        </BareTable>
      </div>
    </Section>
  );
}
