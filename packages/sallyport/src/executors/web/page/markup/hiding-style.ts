/** Effect of style declarations on an element's visibility. */
export type Visibility = 'hidden' | 'shown' | 'unsaid';

const ZERO = /^-?0*(?:\.0+)?(?:px|em|rem|pt|%|vh|vw|ch|ex)?$/;
const FAR = /^-\d{3,}(?:\.\d+)?(?:px|em|rem|pt|vw|vh|%)?$/;

/**
 * Whether a style hides an element: not displayed, invisible, transparent, of no size, moved off the page, clipped, or
 * in the colour of its own background.
 * @param style declarations as in a `style` attribute
 */
export function visibilityOf(style: string): Visibility {
  const said = declarationsOf(style);
  if (said.size === 0) return 'unsaid';
  const value = (name: string): string => said.get(name) ?? '';
  const isZero = (name: string): boolean => said.has(name) && ZERO.test(value(name));
  const isFar = ['left', 'top', 'right', 'bottom', 'text-indent', 'margin-left', 'margin-top'].some((name) =>
    FAR.test(value(name)),
  );
  const isCut = /hidden|clip/.test(value('overflow') + value('overflow-x') + value('overflow-y'));
  const isSizeless = ['width', 'height', 'max-width', 'max-height'].some(isZero);
  if (
    value('display') === 'none' ||
    value('visibility') === 'hidden' ||
    value('visibility') === 'collapse' ||
    value('content-visibility') === 'hidden' ||
    isZero('opacity') ||
    isZero('font-size') ||
    isFar ||
    (isCut && isSizeless) ||
    /^rect\((?:0|1)(?:px)?[ ,]+(?:0|1)(?:px)?[ ,]+(?:0|1)(?:px)?[ ,]+(?:0|1)(?:px)?\)$/.test(value('clip')) ||
    /^(?:inset\((?:50|100)%|circle\(0|polygon\(0 0 ?\))/.test(value('clip-path')) ||
    /scale[xy]?\(0[),]|translate[xy]?\(-\d{4,}px/.test(value('transform')) ||
    isInvisibleInk(value('color'), value('background-color') || value('background'))
  ) {
    return 'hidden';
  }
  const shows = said.has('display') || value('visibility') === 'visible';
  return shows ? 'shown' : 'unsaid';
}

function isInvisibleInk(color: string, background: string): boolean {
  if (color === '') return false;
  return color === 'transparent' || /^(?:rgba|hsla)\([^)]*,\s*0(?:\.0+)?\)$/.test(color) || color === background;
}

function declarationsOf(style: string): Map<string, string> {
  const said = new Map<string, string>();
  for (const declaration of style.replaceAll(/\/\*[\s\S]*?(?:\*\/|$)/g, '').split(';')) {
    const colon = declaration.indexOf(':');
    if (colon === -1) continue;
    const value = declaration.slice(colon + 1).replace(/!\s*important\s*$/i, '');
    said.set(declaration.slice(0, colon).trim().toLowerCase(), value.trim().toLowerCase());
  }
  return said;
}
