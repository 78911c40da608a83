/** The calls that programs without a framework make: a tool, a stream, an embedding and an error. */

const SYSTEM = 'Tell the weather.';
const QUESTION = 'Rain in Oslo?';
const CITY = { type: 'object', properties: { city: { type: 'string' } } };

export async function callOpenAi(openai) {
  const tools = [{ type: 'function', function: { name: 'forecast', parameters: CITY } }];
  const messages = [
    { role: 'system', content: SYSTEM },
    { role: 'user', content: QUESTION },
  ];
  const common = { model: 'gpt-5-mini', tools };
  const { choices } = await openai.chat.completions.create({ ...common, messages });
  const result = { role: 'tool', tool_call_id: 'call-1', content: 'rain' };
  const answered = [...messages, choices[0].message, result];
  const streaming = { stream: true, stream_options: { include_usage: true } };
  const stream = await openai.chat.completions.create({ ...common, ...streaming, messages: answered });
  for await (const _ of stream);
  await openai.responses.create({ model: 'gpt-5-mini', instructions: SYSTEM, input: QUESTION });
  await openai.embeddings.create({ model: 'text-embedding-3-small', input: QUESTION });
  await openai.chat.completions.create({ model: 'broken', messages }).catch(() => {});
}

export async function callAnthropic(anthropic) {
  const tools = [{ name: 'forecast', input_schema: CITY }];
  const common = { model: 'claude-sonnet-4-5-20250929', max_tokens: 256, system: SYSTEM, tools };
  const messages = [{ role: 'user', content: QUESTION }];
  const { content } = await anthropic.messages.create({ ...common, messages });
  const result = [{ type: 'tool_result', tool_use_id: 'call-1', content: 'rain' }];
  const answered = [...messages, { role: 'assistant', content }, { role: 'user', content: result }];
  const stream = await anthropic.messages.create({ ...common, stream: true, messages: answered });
  for await (const _ of stream);
  await anthropic.messages.create({ ...common, model: 'broken', messages }).catch(() => {});
}
