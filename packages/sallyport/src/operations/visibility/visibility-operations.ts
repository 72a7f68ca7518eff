import type { OperationsOf } from '../catalogue/run.ts';
import type { VISIBILITY } from '../catalogue/visibility.ts';
import type { OperationParts } from '../parts.ts';
import { listActivations, removeActivation, setActivation } from './activations.ts';
import { listAvailability, setAvailability } from './availability.ts';
import { listVisible } from './list-visible.ts';
import { getView, listViews, putView, removeView } from './views.ts';

/** What does each operation of visibility. */
export const visibilityOperations = (parts: OperationParts): OperationsOf<typeof VISIBILITY> => ({
  'visibility.list': listVisible(parts),
  'availability.list': listAvailability(parts),
  'availability.set': setAvailability(parts),
  'activations.list': listActivations(parts),
  'activations.set': setActivation(parts),
  'activations.remove': removeActivation(parts),
  'views.list': listViews(parts),
  'views.get': getView(parts),
  'views.put': putView(parts),
  'views.remove': removeView(parts),
});
