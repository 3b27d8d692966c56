#!/bin/sh
# Makes the fonts that the viewer embeds: DejaVu (Debian: fonts-dejavu-core) cut down to the characters of its texts.
# Needs fonttools (a Python package). Run it after adding a character outside these ranges.
set -eu
cd "$(dirname "$0")"
from=/usr/share/fonts/truetype/dejavu
# Latin, Greek, Cyrillic; punctuation, super- and subscripts, currency, letterlike; arrows, mathematics, technical,
# box drawing, geometric shapes, symbols, dingbats.
ranges=U+0020-024F,U+0370-0400,U+0400-045F,U+2010-2044,U+2070-209C,U+20AC,U+2100-214F,U+2190-21FF,U+2200-22FF,U+2300-2335,U+23CE
ranges=$ranges,U+2500-257F,U+2588-2593,U+25A0-25FF,U+2600-263F,U+2690-26A1,U+2713-2718,U+2731,U+27F5-27FA,U+2913,U+2922,U+FFFD
for font in DejaVuSans DejaVuSansMono; do
  pyftsubset "$from/$font.ttf" --unicodes="$ranges" --output-file="$font.ttf" --no-hinting --desubroutinize \
    --layout-features= --drop-tables+=DSIG,GPOS,GSUB,GDEF,kern,FFTM --name-IDs=0,1,2,3,4,5,6,13,14
done
cp /usr/share/doc/fonts-dejavu-core/copyright LICENSE.txt
