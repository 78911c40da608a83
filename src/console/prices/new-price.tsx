import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { useState } from 'react';
import { OverrideMatch, PricingService } from '../../../gen/spandrel/v1/pricing_pb.js';
import { Form, SelectField, TextField } from '../design/form.tsx';
import { useChange } from '../session/refresh.ts';
import { perToken } from './rates.ts';

const NAME_CHARACTERS = 512;

const RATES = [
  ['input', 'A million input tokens, USD', true],
  ['output', 'A million output tokens, USD', true],
  ['cacheRead', 'A million read from a cache, USD', false],
  ['cacheWrite', 'A million written to a cache, USD', false],
] as const;

const MATCHES = [
  [OverrideMatch.EXACT, 'A name'],
  [OverrideMatch.REGEX, 'A pattern'],
] as const;

type RateName = (typeof RATES)[number][0];

export function NewPrice({ onDone }: { readonly onDone: () => void }) {
  const [model, setModel] = useState('');
  const [match, setMatch] = useState<(typeof MATCHES)[number][0]>(OverrideMatch.EXACT);
  const [rates, setRates] = useState<{ readonly [K in RateName]: string }>({
    input: '',
    output: '',
    cacheRead: '',
    cacheWrite: '',
  });
  const [from, setFrom] = useState('');
  const create = useChange(PricingService.method.createOverride, onDone);
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
    <Form
      action="Set the price"
      disabled={create.isPending || !isComplete}
      error={create.error}
      onSubmit={send}
      onCancel={onDone}
    >
      <TextField
        label="Model"
        hint={match === OverrideMatch.REGEX ? 'RE2; it has to take the whole name.' : undefined}
        maxLength={NAME_CHARACTERS}
        spellCheck={false}
        placeholder={match === OverrideMatch.REGEX ? 'in-house-.*' : 'in-house-large'}
        value={model}
        onChange={setModel}
      />
      <SelectField label="Match by" value={match} options={MATCHES} onChange={setMatch} />
      {RATES.map(([name, label, isRequired]) => (
        <TextField
          key={name}
          label={label}
          hint={isRequired ? undefined : 'Leave it empty for the price of an input token.'}
          inputMode="decimal"
          placeholder={isRequired ? '0.50' : ''}
          value={rates[name]}
          onChange={(text) => setRates({ ...rates, [name]: text })}
        />
      ))}
      <TextField
        label="Effective from"
        hint="Earlier spans keep their price. Leave it empty to apply it to all spans."
        type="datetime-local"
        value={from}
        onChange={setFrom}
      />
      {isWrong && <p role="status">Enter an amount with a decimal point, such as 0.50.</p>}
    </Form>
  );
}
