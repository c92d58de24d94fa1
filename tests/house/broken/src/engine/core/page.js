'use strict';

// Begins without its licence.
function nothing() {}
