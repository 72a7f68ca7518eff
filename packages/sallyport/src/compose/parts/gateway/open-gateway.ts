import { valuesOf } from '../../../domain/settings/setting.ts';
import type { Gateway } from '../../../doors/mcp-gateway/create-gateway.ts';
import { MCP_SETTINGS } from '../../../doors/mcp-gateway/settings.ts';
import type { EmbeddedToolLayer } from '../../create-tool-layer.ts';
import { VERSION } from '../../version.ts';
import { keptResultsOf } from '../from-settings/kept-results.ts';

/**
 * The MCP gateway of a layer in this process: users confirm calls at their clients, and questions of tools reach
 * them. The same for every transport.
 */
export async function openGateway(layer: EmbeddedToolLayer): Promise<Gateway> {
  // Loaded only when a gateway is opened, since an embedding program may never open one.
  const { createGateway } = await import('../../../doors/mcp-gateway/create-gateway.ts');
  const { settings, log } = layer;
  const { confirmations, callQuestions, signalOf, stateKey, resourceUpdates, upstreamLogs, clientQuestions } =
    layer.forGateway;
  const { keepResultsMs } = keptResultsOf(settings);
  const gateway = createGateway({
    layer,
    log,
    version: VERSION,
    signalOf,
    resourceUpdates,
    upstreamLogs,
    stateKey: stateKey(),
    ...(confirmations === undefined ? {} : { confirmations }),
    ...(callQuestions === undefined ? {} : { questions: callQuestions }),
    ...(keepResultsMs === undefined ? {} : { resultsKeptMs: keepResultsMs }),
    settings: { ...valuesOf(MCP_SETTINGS, settings), listsOverflow: await shortensResults(layer) },
  });
  const asked = clientQuestions.answeredBy(gateway.clientAsker);
  return {
    ...gateway,
    close: () => {
      asked[Symbol.dispose]();
      gateway.close();
    },
  };
}

/** True when the settings have results shortened, whatever the tool. */
async function shortensResults(layer: EmbeddedToolLayer): Promise<boolean> {
  if (layer.settings['calls.output_tokens_max'] > 0) return true;
  const { filters } = await layer.ask('output-filters.list', {}, { door: 'library', local: true });
  return filters.length > 0;
}
