import { createToolLayer } from '../../packages/sallyport/src/index.ts';
import { benchSettings, checkSum, type MeasuredLayer, request } from './measured-layer.ts';
import { add, IRREVERSIBLE_TOOL, PURE_TOOL } from './tool.ts';

/** The layer as an embedding program has it, everything on, with its PostgreSQL and its audit file. */
export async function postgresLayer(dataFolder: string): Promise<MeasuredLayer> {
  const layer = await createToolLayer({ settings: benchSettings(dataFolder) });
  await layer.registerFunction(PURE_TOOL, add);
  await layer.registerFunction(IRREVERSIBLE_TOOL, add);
  const { capability_token: token } = await layer.mintToken({ tool_id: '*' });
  const caller = { door: 'library', token } as const;
  return {
    async call(toolId, number) {
      checkSum(await layer.ask('tools.invoke', request(toolId, number), caller), number);
    },
    close: layer.close,
  };
}
