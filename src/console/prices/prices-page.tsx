/** The organization's own prices, and the price lookup. */

import { useMutation, useQuery } from '@connectrpc/connect-query';
import { useState } from 'react';
import { OverrideMatch, type PriceOverride, PricingService } from '../../../gen/spandrel/v1/pricing_pb.js';
import { Badge, Button } from '../design/button.tsx';
import { Confirm, Modal } from '../design/confirm.tsx';
import { NONE, nameControls } from '../design/format.ts';
import { Instant } from '../design/instant.tsx';
import page from '../design/page.module.css';
import { Empty, Page, Pending } from '../design/page.tsx';
import { InstantCell, Table } from '../design/table.tsx';
import { useRefresh } from '../session/refresh.ts';
import { ProjectScope, useSession } from '../session/session.tsx';
import { NewPrice } from './new-price.tsx';
import { PriceLookup } from './price-lookup.tsx';
import { perMillion } from './rates.ts';

export function PricesPage() {
  const { account, may } = useSession();
  const [isMaking, setMaking] = useState(false);
  const found = useQuery(PricingService.method.listOverrides);
  const [project] = account.projects;
  return (
    <Page
      title="Prices"
      sub="What models cost comes from the price list of this version, unless the organization has a price of its own."
      actions={
        may('organization:manage') && (
          <Button variant="primary" onClick={() => setMaking(true)}>
            New price
          </Button>
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
      <Modal open={isMaking} onClose={() => setMaking(false)} title="New price">
        <NewPrice onDone={() => setMaking(false)} />
      </Modal>
    </Page>
  );
}

function PriceTable({ overrides }: { readonly overrides: readonly PriceOverride[] }) {
  const { may } = useSession();
  const [toDelete, setToDelete] = useState<PriceOverride | null>(null);
  const refresh = useRefresh();
  const remove = useMutation(PricingService.method.deleteOverride, {
    async onSuccess() {
      setToDelete(null);
      await refresh();
    },
  });
  const rate = (usd: number | undefined) => (usd === undefined ? NONE : perMillion(usd));
  return (
    <>
      <Table
        columns={[
          'Model',
          { number: 'In' },
          { number: 'Out' },
          { number: 'Cache read' },
          { number: 'Cache write' },
          'From',
          'Made',
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
                <Button small variant="danger" onClick={() => setToDelete(override)}>
                  Delete
                </Button>
              )}
            </td>
          </tr>
        ))}
      </Table>
      <Confirm
        key={toDelete?.id ?? ''}
        open={toDelete !== null}
        onClose={() => setToDelete(null)}
        title={`Delete the price of ${nameControls(toDelete?.model ?? '')}`}
        action="Delete it"
        typed={null}
        pending={remove.isPending}
        error={remove.error}
        onConfirm={() => toDelete && remove.mutate({ id: toDelete.id })}
      >
        What it has priced keeps its cost. New spans are priced by what is left. The same price can be made again.
      </Confirm>
    </>
  );
}
