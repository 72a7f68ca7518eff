import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { UpstreamDefinition } from '../../../api/schemas/upstream.ts';
import type { Packages } from '../packages.ts';
import type { WantedPackage } from './wanted-package.ts';

/**
 * The definition with the package that its command needs, installed when allowed; unchanged when it needs none.
 * @throws E3801 with `details.install` when an installation is needed but not allowed; what `Packages.install` throws
 */
export async function withPackage(
  packages: Packages,
  definition: UpstreamDefinition,
  mayInstall: boolean,
): Promise<UpstreamDefinition> {
  const { name, transport, disabled } = definition;
  // A disabled upstream needs no package yet.
  if (disabled === true) return definition;
  if (transport.type !== 'stdio' || transport.installed !== undefined) return definition;
  const wanted = packages.wanted(transport);
  if (wanted === undefined) return definition;
  const known = packages.known(wanted);
  if (known === undefined && !mayInstall) throw notInstalled(name, wanted);
  const installed = known ?? (await packages.install(wanted));
  return { ...definition, transport: { ...transport, installed } };
}

function notInstalled(name: string, { manager, spec }: WantedPackage): ToolLayerError {
  return new ToolLayerError(
    'E3801',
    `The ${manager} package '${spec}' that the upstream '${name}' runs is not installed. It may be downloaded into the data ` +
      'folder, without running its scripts, and pinned to what was downloaded: say so with --yes (over the API "install": true).',
    { details: { install: { manager, package: spec } } },
  );
}
