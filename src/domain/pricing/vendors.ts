/** Vendor names as spans send them: which provider of the price list they mean, and which run models on own machines. */

const vendorAliases: ReadonlyMap<string, string> = new Map(
  Object.entries({
    azure: ['azure_openai', 'azure.ai.openai', 'az.ai.openai', 'azure.ai.inference'],
    aws: ['bedrock', 'aws.bedrock', 'aws_bedrock', 'amazon'],
    google: ['gemini', 'vertex_ai', 'vertexai', 'vertex', 'gcp.gemini', 'gcp.vertex_ai', 'google_ai_studio'],
    'x-ai': ['xai'],
    mistral: ['mistral_ai', 'mistralai'],
    together: ['together_ai'],
    fireworks: ['fireworks_ai'],
    moonshotai: ['moonshot'],
  }).flatMap(([provider, aliases]) => aliases.map((alias): [string, string] => [alias, provider])),
);

/** Runtimes that people host themselves, without the marks between their words, which clients spell differently. */
const selfHosted: ReadonlySet<string> = new Set([
  'ollama',
  'ollamachat',
  'vllm',
  'hostedvllm',
  'lmstudio',
  'llamacpp',
  'tgi',
  'textgenerationinference',
  'sglang',
  'huggingfacelocal',
  'localai',
]);

/** The provider id of a vendor name, in lower case; the name itself when it is not an alias. */
export function resolveVendor(vendor: string): string {
  const name = vendor.toLowerCase();
  return vendorAliases.get(name) ?? name;
}

/** Whether a call ran on a runtime that its user hosts, by the vendor or the text before the first `/` of the model. */
export function isSelfHosted(model: string, vendor: string | null): boolean {
  const slash = model.indexOf('/');
  return (vendor !== null && isRuntime(vendor)) || (slash > 0 && isRuntime(model.slice(0, slash)));
}

function isRuntime(name: string): boolean {
  return selfHosted.has(name.toLowerCase().replaceAll(/[\s._-]/g, ''));
}
