/** The organization's own prices, and the price lookup. */

import { useQuery } from '@connectrpc/connect-query';
import { OverrideMatch, type PriceOverride, PricingService } from '../../../gen/spandrel/v1/pricing_pb.js';
import { Badge } from '../design/button.tsx';
import { ConfirmButton, ModalButton } from '../design/confirm.tsx';
import { NONE, nameControls } from '../design/format.ts';
import { Instant } from '../design/instant.tsx';
import page from '../design/page.module.css';
import { Empty, Page, Pending } from '../design/page.tsx';
import { InstantCell, Table } from '../design/table.tsx';
import { ProjectScope, useSession } from '../session/session.tsx';
import { NewPrice } from './new-price.tsx';
import { PriceLookup } from './price-lookup.tsx';
import { perMillion } from './rates.ts';

export default function PricesPage() {
  const { account, may } = useSession();
  const found = useQuery(PricingService.method.listOverrides);
  const [project] = account.projects;
  return (
    <Page
      title="Prices"
      sub="What models cost comes from the price list of this version, unless the organization has a price of its own."
      actions={
        may('organization:manage') && (
          <ModalButton label="New price" variant="primary">
            {(close) => <NewPrice onDone={close} />}
          </ModalButton>
        )
      }
    >
      {project && may('traces:view') && (
        <ProjectScope project={project}>
          <PriceLookup />
        </ProjectScope>
      )}
      <Pending found={found} />
      {found.data?.data.length === 0 && (
        <Empty title="No price of your own yet">
          Set one for a model of your own, for prices you have negotiated, or for a model that the list does not
          contain. It applies to what is stored from then on; <code>spandrel reprice</code> computes the prices of
          stored spans again.
        </Empty>
      )}
      {found.data && found.data.data.length > 0 && <PriceTable overrides={found.data.data} />}
    </Page>
  );
}

function PriceTable({ overrides }: { readonly overrides: readonly PriceOverride[] }) {
  const { may } = useSession();
  const rate = (usd: number | undefined) => (usd === undefined ? NONE : perMillion(usd));
  return (
    <Table
      columns={[
        'Model',
        { number: 'In' },
        { number: 'Out' },
        { number: 'Cache read' },
        { number: 'Cache write' },
        'From',
        'Created',
        'Actions',
      ]}
      caption={'US dollars for a million tokens'}
    >
      {overrides.map((override) => (
        <tr key={override.id}>
          <td>
            <span className={page.mono}>{nameControls(override.model)}</span>{' '}
            {override.match === OverrideMatch.REGEX && <Badge>pattern</Badge>}
          </td>
          <td className={page.number}>{rate(override.inputCostPerToken)}</td>
          <td className={page.number}>{rate(override.outputCostPerToken)}</td>
          <td className={page.number}>{rate(override.cacheReadCostPerToken)}</td>
          <td className={page.number}>{rate(override.cacheWriteCostPerToken)}</td>
          <td className={page.nowrap}>
            {override.effectiveFrom ? <Instant at={override.effectiveFrom} as="short" /> : 'always'}
          </td>
          <InstantCell at={override.createdAt} />
          <td>
            {may('organization:manage') && (
              <ConfirmButton
                small
                variant="danger"
                label="Delete"
                title={`Delete the price of ${nameControls(override.model)}`}
                action="Delete it"
                typed={null}
                method={PricingService.method.deleteOverride}
                input={{ id: override.id }}
              >
                What it has priced keeps its cost. New spans are priced by what is left. The same price can be made
                again.
              </ConfirmButton>
            )}
          </td>
        </tr>
      ))}
    </Table>
  );
}
