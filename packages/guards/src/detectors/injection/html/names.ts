/** Elements that execute, load or redirect by themselves. */
export const ACTIVE_ELEMENTS: ReadonlySet<string> = new Set(
  (
    'script iframe frame frameset object embed applet base bgsound layer ilayer isindex meta link xml import xss handler ' +
    'vmlframe portal fencedframe animate animatetransform animatemotion set stylesheet foreignobject noembed ' +
    'event-source listener'
  ).split(' '),
);

/** Of those, words that programs write between angle brackets as well: `Map<object>`. */
export const TYPE_LIKE: ReadonlySet<string> = new Set(
  'object base frame link set import xml layer handler meta embed stylesheet portal listener script animate'.split(' '),
);

/** Of those, the ones that need an attribute to do anything. */
export const NEEDS_ATTRIBUTE: ReadonlySet<string> = new Set(
  'object base frame link set meta layer animate animatetransform animatemotion portal handler listener'.split(' '),
);

/** Names of events without their `on`; an attribute of one runs its value. */
export const EVENTS: ReadonlySet<string> = new Set(
  (
    'abort activate afterprint afterscriptexecute afterupdate animationcancel animationend animationiteration ' +
    'animationstart auxclick beforeactivate beforecopy beforecut beforeinput beforeprint beforescriptexecute ' +
    'beforetoggle beforeunload begin blur bounce canplay canplaythrough cellchange change click close contextmenu ' +
    'copy cuechange cut dataavailable datasetchanged dblclick drag dragend dragenter dragexit dragleave dragover ' +
    'dragstart drop durationchange emptied end ended error errorupdate filterchange finish focus focusin focusout ' +
    'formchange forminput fullscreenchange gotpointercapture hashchange input invalid keydown keypress keyup ' +
    'languagechange load loadeddata loadedmetadata loadend loadstart lostpointercapture message mousedown mouseenter ' +
    'mouseleave mousemove mouseout mouseover mouseup mousewheel offline online open orientationchange pagehide ' +
    'pageshow paint paste pause play playing pointercancel pointerdown pointerenter pointerleave pointermove ' +
    'pointerout pointerover pointerrawupdate pointerup popstate progress propertychange ratechange readystatechange ' +
    'redo rejectionhandled repeat reset resize resizeend resizestart rowenter rowexit rowinserted scroll scrollend ' +
    'search seeked seeking select selectionchange selectstart show stalled start stop storage submit suspend ' +
    'timeerror timeupdate toggle touchcancel touchend touchmove touchstart transitioncancel transitionend ' +
    'transitionrun transitionstart undo unhandledrejection unload volumechange waiting webkitanimationend ' +
    'webkittransitionend wheel zoom'
  ).split(' '),
);

/** Prefixes of addresses that execute when followed. */
export const SCRIPT_SCHEMES: readonly string[] = [
  'javascript:',
  'vbscript:',
  'livescript:',
  'mocha:',
  'jscript:',
  'data:text/html',
  'data:text/xml',
  'data:text/javascript',
  'data:application/',
  'mhtml:',
  'view-source:',
  'feed:javascript:',
  'jar:http',
];

/** A handler as JSX writes it: `onClick`. */
export const JSX_EVENT = /^on[A-Z][a-z]/;
