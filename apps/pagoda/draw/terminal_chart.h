#pragma once

#include <string>

#include "draw/curve_chart.h"

namespace pagoda::app {

/// What a terminal chart may take.
struct TerminalSize {
  int columns = 80;
  int rows = 20;  ///< of the plot, without axis and legend
  bool colours = false;
};

/// The chart in lines of text: curves in braille dots, two by four a character, with a letter at the
/// end of each that the legend explains. Numbers stand at the left and below.
std::string terminal_chart(const CurveChart& chart, const TerminalSize& size);

}  // namespace pagoda::app
