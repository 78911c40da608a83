/** Looks up the price of a model; the address holds its name. */

import { useQuery } from '@connectrpc/connect-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { type PriceMatch, PriceSource, PricingService } from '../../../gen/spandrel/v1/pricing_pb.js';
import { Badge, Button } from '../design/button.tsx';
import { type Fact, Facts } from '../design/facts.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { TextField } from '../design/form.tsx';
import { formatCount, nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { perMillion } from './rates.ts';

const route = getRouteApi('/-/prices');
const NAME_CHARACTERS = 512;

export function PriceLookup() {
  const { model } = route.useSearch();
  const navigate = route.useNavigate();
  const [typed, setTyped] = useState(model ?? '');
  const found = useQuery(PricingService.method.matchPrice, { model: model ?? '' }, { enabled: model !== undefined });
  return (
    <form
      className={`${page.card} ${page.padded}`}
      onSubmit={(event) => {
        event.preventDefault();
        const name = typed.trim();
        void navigate({ search: name === '' ? {} : { model: name }, replace: true });
      }}
    >
      <div className={page.lookup}>
        <TextField
          label="Price of"
          type="search"
          maxLength={NAME_CHARACTERS}
          placeholder="openai/gpt-5-2025-08-07"
          spellCheck={false}
          value={typed}
          onChange={setTyped}
        />
        <Button type="submit">Look up</Button>
      </div>
      <div role="status">
        {found.isError && <FailureNotice error={found.error} />}
        {model !== undefined && found.data && !found.data.match && (
          <p>Nobody knows a price of {nameControls(model)}: its cost is unknown, and counts nowhere as 0.</p>
        )}
        {model !== undefined && found.data?.match && <Match match={found.data.match} />}
      </div>
    </form>
  );
}

function Match({ match }: { readonly match: PriceMatch }) {
  const { source, provider, id, matchedForm, rates } = match;
  const isOwn = source === PriceSource.OVERRIDE;
  const facts: readonly Fact[] = [
    ['In, a million', perMillion(rates?.inputCostPerToken ?? 0)],
    ['Out, a million', perMillion(rates?.outputCostPerToken ?? 0)],
    ['Cache read, a million', perMillion(rates?.cacheReadCostPerToken ?? 0)],
    ['Cache write, a million', perMillion(rates?.cacheWriteCostPerToken ?? 0)],
  ];
  return (
    <div className={page.form}>
      <p>
        <Badge tone={isOwn ? 'accent' : 'quiet'}>{isOwn ? 'own price' : 'price list'}</Badge>{' '}
        <span className={page.mono}>
          {nameControls([provider, isOwn ? matchedForm : id].filter(Boolean).join('/'))}
        </span>
      </p>
      <Facts facts={facts} />
      {rates?.tiers.map((tier) => (
        <p key={String(tier.aboveTokens)} className={page.soft}>
          Above {formatCount(tier.aboveTokens)} tokens in: {perMillion(tier.inputCostPerToken)} in,{' '}
          {perMillion(tier.outputCostPerToken)} out
        </p>
      ))}
    </div>
  );
}
