/** Spellings of model names seen in applications and gateways. */
export const WILD_NAMES: readonly string[] = `
claude-3-5-sonnet-latest claude-3-5-sonnet-20240620 claude-3-5-sonnet-20241022 claude-3-5-haiku-latest
claude-3-5-haiku-20241022 claude-3-7-sonnet-latest claude-3-7-sonnet-20250219 claude-3-opus-latest
claude-3-opus-20240229 claude-3-sonnet-20240229 claude-3-haiku-20240307 claude-3-haiku claude-3-opus claude-2
claude-2.0 claude-2.1 claude-instant-1.2 claude-instant-v1 claude-v1 claude-v2 claude-sonnet-4
claude-sonnet-4-0 claude-sonnet-4-20250514 claude-sonnet-4-5 claude-sonnet-4-5-20250929 claude-sonnet-4@20250514
claude-sonnet-4-5@20250929 claude-opus-4 claude-opus-4-0 claude-opus-4-20250514 claude-opus-4-1
claude-opus-4-1-20250805 claude-opus-4-5 claude-opus-4-5-20251101 claude-haiku-4-5 claude-haiku-4-5-20251001
claude-4-sonnet-20250514 claude-4-opus-20250514 claude-3.5-sonnet claude-3.7-sonnet-thought claude-sonnet-4.5
claude-opus-4.1 claude-opus-4-6 claude-sonnet-4-6 claude-3-5-sonnet-v2@20241022 claude-3-5-sonnet@20240620
claude-3-haiku@20240307 claude-3-7-sonnet@20250219 claude-3-7-sonnet-latest-thinking claude-opus-4-6-fast
gemini-1.5-flash gemini-1.5-flash-001 gemini-1.5-flash-002 gemini-1.5-flash-8b gemini-1.5-flash-8b-001
gemini-1.5-flash-latest gemini-1.5-pro gemini-1.5-pro-001 gemini-1.5-pro-002 gemini-1.5-pro-latest
gemini-1.5-pro-exp-0827 gemini-1.0-pro gemini-1.0-pro-001 gemini-1.0-pro-vision-001 gemini-pro gemini-pro-vision
gemini-2.0-flash gemini-2.0-flash-001 gemini-2.0-flash-exp gemini-2.0-flash-lite gemini-2.0-flash-lite-001
gemini-2.0-flash-lite-preview-02-05 gemini-2.0-flash-thinking-exp gemini-2.0-flash-thinking-exp-01-21
gemini-2.0-flash-thinking-exp-1219 gemini-2.0-pro-exp-02-05 gemini-2.5-pro gemini-2.5-pro-exp-03-25
gemini-2.5-pro-preview-03-25 gemini-2.5-pro-preview-05-06 gemini-2.5-pro-preview-06-05 gemini-2.5-pro-latest
gemini-2.5-flash gemini-2.5-flash-preview-04-17 gemini-2.5-flash-preview-05-20 gemini-2.5-flash-preview-09-2025
gemini-2.5-flash-lite gemini-2.5-flash-lite-preview-06-17 gemini-2.5-flash-lite-preview-09-2025
gemini-2.5-flash-image gemini-2.5-flash-image-preview gemini-2.5-pro-preview-tts gemini-2.5-flash-preview-tts
gemini-3-pro-preview gemini-3-flash-preview gemini-3-pro-image-preview gemini-embedding-001
gemini-live-2.5-flash-preview models/gemini-1.5-flash models/gemini-1.5-pro-latest models/gemini-2.0-flash
gemini/gemini-1.5-flash-002 vertex_ai/gemini-1.5-pro-002 google-gla:gemini-1.5-flash gemma-3-27b-it gemma-3-4b-it
gpt-4o gpt-4o-2024-05-13 gpt-4o-2024-08-06 gpt-4o-2024-11-20 gpt-4o-mini gpt-4o-mini-2024-07-18
gpt-4o-audio-preview gpt-4o-audio-preview-2024-10-01 gpt-4o-audio-preview-2024-12-17 gpt-4o-mini-audio-preview
gpt-4o-mini-audio-preview-2024-12-17 gpt-4o-realtime-preview gpt-4o-realtime-preview-2024-10-01
gpt-4o-realtime-preview-2024-12-17 gpt-4o-mini-realtime-preview-2024-12-17 gpt-4o-search-preview
gpt-4o-search-preview-2025-03-11 gpt-4o-mini-search-preview gpt-4o-transcribe gpt-4o-mini-transcribe
gpt-4o-mini-tts chatgpt-4o-latest gpt-4 gpt-4-0314 gpt-4-0613 gpt-4-32k gpt-4-32k-0613 gpt-4-turbo
gpt-4-turbo-2024-04-09 gpt-4-turbo-preview gpt-4-0125-preview gpt-4-1106-preview gpt-4-vision-preview
gpt-4-1106-vision-preview gpt-4.1 gpt-4.1-2025-04-14 gpt-4.1-mini gpt-4.1-mini-2025-04-14 gpt-4.1-nano
gpt-4.1-nano-2025-04-14 gpt-4.5-preview gpt-4.5-preview-2025-02-27 gpt-3.5-turbo gpt-3.5-turbo-0125
gpt-3.5-turbo-0301 gpt-3.5-turbo-0613 gpt-3.5-turbo-1106 gpt-3.5-turbo-16k gpt-3.5-turbo-16k-0613
gpt-3.5-turbo-instruct gpt-3.5-turbo-instruct-0914 gpt-35-turbo gpt-35-turbo-16k gpt-5 gpt-5-2025-08-07
gpt-5-chat-latest gpt-5-codex gpt-5-mini gpt-5-mini-2025-08-07 gpt-5-nano gpt-5-nano-2025-08-07 gpt-5-pro
gpt-5-pro-2025-10-06 gpt-5.1 gpt-5.1-codex gpt-5.2 gpt-image-1 ft:gpt-4o-2024-08-06:acme::abc123
ft:gpt-4o-mini-2024-07-18:acme:tone:9x ft:gpt-3.5-turbo-0125:acme::8k ft:gpt-3.5-turbo-1106:acme::7c o1
o1-2024-12-17 o1-mini o1-mini-2024-09-12 o1-preview o1-preview-2024-09-12 o1-pro o1-pro-2025-03-19 o3
o3-2025-04-16 o3-mini o3-mini-2025-01-31 o3-pro o3-pro-2025-06-10 o3-deep-research o4-mini o4-mini-2025-04-16
o4-mini-deep-research text-embedding-3-small text-embedding-3-large text-embedding-ada-002 whisper-1 davinci-002
babbage-002 omni-moderation-latest command-r command-r-08-2024 command-r-03-2024 command-r-plus
command-r-plus-08-2024 command-r-plus-04-2024 command-r7b-12-2024 command-a-03-2025 command-light command-nightly
mistral-large-latest mistral-large-2411 mistral-large-2407 mistral-medium-latest mistral-medium-2505
mistral-small-latest mistral-small-2503 mistral-tiny mistral-nemo open-mistral-nemo open-mistral-7b
open-mixtral-8x7b open-mixtral-8x22b codestral-latest codestral-2501 pixtral-large-latest pixtral-12b-2409
ministral-8b-latest ministral-3b-latest magistral-medium-2506 devstral-small-2505 grok-2 grok-2-1212
grok-2-vision-1212 grok-beta grok-3 grok-3-beta grok-3-mini grok-3-mini-fast grok-3-fast-latest grok-4
grok-4-0709 grok-4-fast-reasoning grok-code-fast-1 deepseek-chat deepseek-reasoner deepseek-coder deepseek-v3
deepseek-r1 kimi-k2-0711-preview kimi-latest moonshot-v1-8k moonshot-v1-32k moonshot-v1-128k MiniMax-M1 MiniMax-M2
glm-4.5 glm-4.5-air glm-4.6 sonar sonar-pro sonar-reasoning sonar-reasoning-pro sonar-deep-research voyage-3
voyage-3-large voyage-3-lite voyage-code-3 voyage-large-2 llama-3.3-70b-versatile llama-3.1-8b-instant
llama3-70b-8192 mixtral-8x7b-32768 qwen-max qwen2.5-72b-instruct qwen3-32b
us.anthropic.claude-3-5-sonnet-20241022-v2:0 anthropic.claude-3-sonnet-20240229-v1:0 anthropic.claude-v2:1
amazon.nova-pro-v1:0 us.amazon.nova-lite-v1:0 meta.llama3-1-70b-instruct-v1:0 computer-use-preview-2025-03-11
`
  .trim()
  .split(/\s+/);
