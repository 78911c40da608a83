import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { useMutation } from '@connectrpc/connect-query';
import { useState } from 'react';
import { OverrideMatch, PricingService } from '../../../gen/spandrel/v1/pricing_pb.js';
import { Button, Field } from '../design/button.tsx';
import { FailureNotice } from '../design/failure.tsx';
import page from '../design/page.module.css';
import { useRefresh } from '../session/refresh.ts';
import { perToken } from './rates.ts';

const NAME_CHARACTERS = 512;

const RATES = [
  ['input', 'A million input tokens, USD', true],
  ['output', 'A million output tokens, USD', true],
  ['cacheRead', 'A million read from a cache, USD', false],
  ['cacheWrite', 'A million written to a cache, USD', false],
] as const;

type RateName = (typeof RATES)[number][0];

export function NewPrice({ onDone }: { readonly onDone: () => void }) {
  const [model, setModel] = useState('');
  const [match, setMatch] = useState(OverrideMatch.EXACT);
  const [rates, setRates] = useState<{ readonly [K in RateName]: string }>({
    input: '',
    output: '',
    cacheRead: '',
    cacheWrite: '',
  });
  const [from, setFrom] = useState('');
  const refresh = useRefresh();
  const create = useMutation(PricingService.method.createOverride, {
    async onSuccess() {
      await refresh();
      onDone();
    },
  });
  const input = perToken(rates.input);
  const output = perToken(rates.output);
  const isWrong = RATES.some(([name]) => rates[name].trim() !== '' && perToken(rates[name]) === null);
  const isComplete = model.trim() !== '' && input !== null && output !== null && !isWrong;
  const send = () => {
    if (input === null || output === null) return;
    const cacheReadCostPerToken = perToken(rates.cacheRead);
    const cacheWriteCostPerToken = perToken(rates.cacheWrite);
    create.mutate({
      model: model.trim(),
      match,
      inputCostPerToken: input,
      outputCostPerToken: output,
      ...(cacheReadCostPerToken !== null && { cacheReadCostPerToken }),
      ...(cacheWriteCostPerToken !== null && { cacheWriteCostPerToken }),
      ...(from !== '' && { effectiveFrom: timestampFromDate(new Date(from)) }),
    });
  };
  return (
    <form
      className={page.form}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <Field label="Model" hint={match === OverrideMatch.REGEX ? 'RE2; it has to take the whole name.' : undefined}>
        {(props) => (
          <input
            {...props}
            maxLength={NAME_CHARACTERS}
            spellCheck={false}
            placeholder={match === OverrideMatch.REGEX ? 'in-house-.*' : 'in-house-large'}
            value={model}
            onChange={({ target }) => setModel(target.value)}
          />
        )}
      </Field>
      <Field label="Matched as">
        {(props) => (
          <select {...props} value={match} onChange={({ target }) => setMatch(Number(target.value))}>
            <option value={OverrideMatch.EXACT}>A name</option>
            <option value={OverrideMatch.REGEX}>A pattern</option>
          </select>
        )}
      </Field>
      {RATES.map(([name, label, isRequired]) => (
        <Field key={name} label={label} hint={isRequired ? undefined : 'Empty: the price of an input token.'}>
          {(props) => (
            <input
              {...props}
              inputMode="decimal"
              placeholder={isRequired ? '0.50' : ''}
              value={rates[name]}
              onChange={({ target }) => setRates({ ...rates, [name]: target.value })}
            />
          )}
        </Field>
      ))}
      <Field label="Effective from" hint="Earlier spans have another price. Empty: effective for all spans.">
        {(props) => (
          <input {...props} type="datetime-local" value={from} onChange={({ target }) => setFrom(target.value)} />
        )}
      </Field>
      {isWrong && <p role="status">Write an amount in digits with a point: 0.50.</p>}
      {create.isError && <FailureNotice error={create.error} />}
      <div className={page.row}>
        <Button type="submit" variant="primary" disabled={create.isPending || !isComplete}>
          Set the price
        </Button>
        <Button onClick={onDone}>Cancel</Button>
      </div>
    </form>
  );
}
